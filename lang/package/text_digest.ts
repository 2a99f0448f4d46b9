/** SHA-256 of texts. */
import { sha256 } from "@noble/hashes/sha2.js";

/** SHA-256 of a text's UTF-8 bytes, in hexadecimal digits. */
export function textDigest(text: string): string {
  return Array.from(sha256(new TextEncoder().encode(text)), (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
