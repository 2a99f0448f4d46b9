/** The feature `external-sources-objstore`: the one place from which object stores and Parquet are linked. */
export { objectStoreOpener } from "../../engine/external/object_store/object_stores.ts";
export { parquetReader } from "../../engine/external/parquet/parquet_source.ts";
export * as pagePlatform from "../../engine/host/page_platform.ts";
