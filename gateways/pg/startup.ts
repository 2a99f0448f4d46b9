/**
 * The first packet of a connection: a request for encryption or cancellation, or the startup packet with the protocol
 * version, user, database and settings.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { Settings } from "../../engine/settings/settings.ts";
import type { MessageReader } from "./message_reader.ts";
import { type ReadFrom, readFromOf } from "../shared/relay_port.ts";
import { STARTUP_CODE } from "./protocol.ts";

/** The startup option that says where a session reads. */
const READ_FROM = "read_from";

/** A startup packet. */
export interface StartupRequest {
  readonly kind: "startup";
  readonly user: string;
  readonly database: string;
  /** Checked, in their normal form. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where the session reads: `follower` is the member that the client is connected to, whatever it is. */
  readonly readFrom: ReadFrom;
  /** Set when the client speaks a newer minor version or has protocol options: what it must be sent. */
  readonly unrecognizedOptions: readonly string[] | null;
}

/** What a first packet asks for. */
export type FirstPacket =
  | { readonly kind: "encryption"; readonly method: "ssl" | "gss" }
  | { readonly kind: "cancel"; readonly processId: number; readonly secretKey: number }
  | StartupRequest;

/** Reads the packet at the reader's position. Raises what the client must be sent before the connection is closed. */
export function readFirstPacket(reader: MessageReader): FirstPacket {
  const code = reader.readI32();
  switch (code) {
    case STARTUP_CODE.ssl:
      return { kind: "encryption", method: "ssl" };
    case STARTUP_CODE.gssEncryption:
      return { kind: "encryption", method: "gss" };
    case STARTUP_CODE.cancel: {
      const processId = reader.readI32();
      return { kind: "cancel", processId, secretKey: reader.readI32() };
    }
  }
  const major = code >>> 16, minor = code & 0xffff;
  if (major !== 3) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.0`,
    );
  }
  return readStartup(reader, minor);
}

function readStartup(reader: MessageReader, minor: number): StartupRequest {
  let user = "", database = "";
  const given: [string, string][] = [];
  const unrecognized: string[] = [];
  for (;;) {
    const name = reader.readText();
    if (name === "") break;
    const value = reader.readText();
    if (name === "user") user = value;
    else if (name === "database") database = value;
    else if (name === "options") given.unshift(...commandLineOptions(value));
    else if (name === "replication") refuseReplication(value);
    else if (name.startsWith("_pq_.")) unrecognized.push(name);
    else given.push([name, value]);
  }
  const isReadFrom = ([name]: readonly [string, string]): boolean => name.toLowerCase() === READ_FROM;
  if (reader.start !== reader.end) {
    throw new DatabaseError(
      SQLSTATE.protocolViolation,
      "invalid startup packet layout: expected terminator as last byte",
    );
  }
  if (user === "") {
    throw new DatabaseError(
      SQLSTATE.invalidAuthorizationSpecification,
      "no PostgreSQL user name specified in startup packet",
    );
  }
  return {
    kind: "startup",
    user,
    database: database === "" ? user : database,
    settings: checkSettings(given.filter((each) => !isReadFrom(each))),
    readFrom: readFromOf(given.findLast(isReadFrom)?.[1] ?? "primary", READ_FROM),
    unrecognizedOptions: minor > 0 || unrecognized.length > 0 ? unrecognized : null,
  };
}

function refuseReplication(value: string): void {
  if (["false", "off", "no", "0", "f", "n"].includes(value.toLowerCase())) return;
  throw new DatabaseError(SQLSTATE.featureNotSupported, "replication connections are not supported");
}

/** Applies the settings to fresh ones, which checks and normalizes them. */
function checkSettings(given: readonly (readonly [string, string])[]): Record<string, string> {
  const settings = new Settings();
  const checked: Record<string, string> = {};
  for (const [name, value] of given) {
    const key = name.toLowerCase();
    settings.set(key, key === "client_encoding" ? encodingName(value) : value, { local: false });
    checked[key] = settings.get(key);
  }
  return checked;
}

/** Encoding names are compared by their letters and digits alone. */
function encodingName(value: string): string {
  const letters = value.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
  return letters === "UTF8" || letters === "UNICODE" ? "UTF8" : value;
}

/** The settings in the `options` of a startup packet: `-c name=value`, `-cname=value` and `--name=value`. */
export function commandLineOptions(text: string): [string, string][] {
  const words = [...text.matchAll(/(?:\\.|[^\s\\])+/gs)].map((match) => match[0].replace(/\\(.)/gs, "$1"));
  const settings: [string, string][] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    let assignment: string | undefined;
    if (word === "-c") assignment = words[++i];
    else if (word.startsWith("-c")) assignment = word.slice(2);
    else if (word.startsWith("--")) assignment = word.slice(2);
    const equals = assignment?.indexOf("=") ?? -1;
    if (assignment === undefined || equals <= 0) {
      throw new DatabaseError(
        SQLSTATE.syntaxError,
        `invalid command-line argument for server process: ${word}`,
        { hint: "Settings are given as -c name=value." },
      );
    }
    settings.push([assignment.slice(0, equals).replaceAll("-", "_"), assignment.slice(equals + 1)]);
  }
  return settings;
}
