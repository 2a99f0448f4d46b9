/** Content types of what games consist of, by the ending of the name (the IANA registry of media types). */

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // Texts, all in UTF-8
    "text/html; charset=utf-8": "html htm",
    "text/javascript; charset=utf-8": "js mjs cjs",
    "text/css; charset=utf-8": "css",
    "text/plain; charset=utf-8": "txt text log lang glsl vert frag wgsl",
    "text/markdown; charset=utf-8": "md markdown",
    "text/csv; charset=utf-8": "csv",
    "text/tab-separated-values; charset=utf-8": "tsv",
    "text/vtt; charset=utf-8": "vtt",
    "text/xml; charset=utf-8": "xml tmx tsx",
    "text/x-typescript; charset=utf-8": "ts",
    // Data
    "application/json": "json map",
    "application/ld+json": "jsonld",
    "application/manifest+json": "webmanifest",
    "application/geo+json": "geojson",
    "application/toml": "toml",
    "application/yaml": "yaml yml",
    "application/wasm": "wasm",
    "application/zip": "zip",
    "application/gzip": "gz",
    "application/pdf": "pdf",
    "application/xhtml+xml": "xhtml",
    // Pictures
    "image/png": "png",
    "image/apng": "apng",
    "image/jpeg": "jpg jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/jxl": "jxl",
    "image/svg+xml": "svg",
    "image/bmp": "bmp",
    "image/x-icon": "ico",
    "image/tiff": "tif tiff",
    "image/ktx2": "ktx2",
    // Sounds and films
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/aac": "aac",
    "audio/webm": "weba",
    "audio/midi": "mid midi",
    "video/mp4": "mp4 m4v",
    "video/webm": "webm",
    "video/ogg": "ogv",
    "video/quicktime": "mov",
    // Fonts and models
    "font/woff": "woff",
    "font/woff2": "woff2",
    "font/ttf": "ttf",
    "font/otf": "otf",
    "font/collection": "ttc",
    "application/vnd.ms-fontobject": "eot",
    "model/gltf+json": "gltf",
    "model/gltf-binary": "glb",
    "model/obj": "obj",
    "model/mtl": "mtl",
    "model/stl": "stl",
  }).flatMap(([type, endings]) => endings.split(" ").map((ending) => [ending, type] as const)),
);

/** The content type of a file; bytes of no known kind for an ending that is not known. */
export function contentType(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const ending = dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
  return TYPES.get(ending) ?? "application/octet-stream";
}
