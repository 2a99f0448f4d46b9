/**
 * Object identifiers that clients know by heart: those of PostgreSQL's initial catalogs (`pg_am.dat` and its kin),
 * and the few that this product adds below {@link FIRST_USER_OBJECT_ID}.
 */

/** `pg_namespace`. */
export const NAMESPACE = { pgCatalog: 11, public: 2200, informationSchema: 13000 } as const;

/** `pg_am`: the only table and the only index method. */
export const ACCESS_METHOD = { heap: 2, btree: 403 } as const;

/** `pg_language`. */
export const LANGUAGE = { internal: 12, c: 13, sql: 14, wasm: 9601 } as const;

/** `pg_authid`: the one role, which owns everything. */
export const OWNER_ID = 10;

/** `pg_database`: the one database of a server. */
export const DATABASE_ID = 5;

/** `pg_tablespace`. */
export const TABLESPACE = { default: 1663, global: 1664 } as const;

/** `pg_collation`: `default` compares by code point like `C`. */
export const COLLATION = { default: 100, c: 950, posix: 951 } as const;

/** The system catalogs that descriptions and dependencies refer to. */
export const CATALOG = {
  class: 1259,
  type: 1247,
  procedure: 1255,
  constraint: 2606,
  attributeDefault: 2604,
  namespace: 2615,
  trigger: 2620,
  rewrite: 2618,
  database: 1262,
  authorization: 1260,
  extension: 3079,
  tablespace: 1213,
  language: 2612,
  accessMethod: 2601,
  statistics: 3381,
} as const;

/** `pg_extension`: below the ids of objects that users make, so that dumps leave them out. */
export const EXTENSION_IDS: ReadonlyMap<string, number> = new Map([["uuid-ossp", 9602], ["plpgsql", 9604]]);
