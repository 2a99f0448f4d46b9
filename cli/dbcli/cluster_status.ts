/**
 * `dbcli status`: asks each of the given members what it knows of the cluster, and puts the answers together. What a
 * member says of itself counts most; how far backups lag, the primary knows.
 */
import { DatabaseError } from "../../engine/base/errors.ts";
import { OperationClient } from "../../gateways/binary/client.ts";
import type { ClientTls } from "../../gateways/binary/client_api.ts";
import { formatError } from "./error_format.ts";
import { failureJson } from "./json_format.ts";
import { formatTable } from "./table_format.ts";
import type { Terminal } from "./terminal.ts";

/** Whom to ask. */
export interface StatusRequest {
  readonly addresses: readonly string[];
  readonly token: string | null;
  readonly tls: ClientTls | null;
  readonly json: boolean;
}

/** A row of `db_cluster`. Numbers are those of JSON where they fit. */
export interface MemberRow {
  readonly member: number;
  readonly address: string;
  readonly role: string | null;
  readonly is_self: boolean;
  readonly state: string | null;
  readonly connected: boolean;
  readonly last_contact_seconds: number | null;
  readonly view: number | null;
  readonly op: number | null;
  readonly commit_op: number | null;
  readonly applied_op: number | null;
  readonly lag_operations: number | null;
  readonly lag_seconds: number | null;
  readonly read_lease: string | null;
  readonly transfer_op: number | null;
  readonly transfer_bytes: number | null;
  readonly transfer_total_bytes: number | null;
  readonly checkpoint_op: number | null;
  readonly checkpoint_id: string | null;
  /** Releases before there was a cluster version say neither. */
  readonly cluster_version?: number | null;
  readonly spoken_version?: number | null;
}

interface Answer {
  readonly address: string;
  /** A single server has none. */
  readonly rows: readonly MemberRow[];
}

interface Silence {
  readonly address: string;
  readonly error: DatabaseError;
}

const CONNECT_MILLISECONDS = 2_000;

/** Prints the cluster's members; answers whether it has a primary, or is a single server. */
export async function printStatus(request: StatusRequest, terminal: Terminal): Promise<boolean> {
  const asked = await Promise.all(request.addresses.map((address) => ask(address, request)));
  const answers = asked.filter((each) => "rows" in each);
  const silences = asked.filter((each) => "error" in each);
  const { json } = request;
  if (answers.length === 0) {
    const first = silences[0];
    if (json && first !== undefined) terminal.out(failureJson(first.error));
    else for (const { error } of silences) terminal.error(formatError(error, ""));
    return false;
  }
  const members = mergeRows(answers.map(({ rows }) => rows));
  if (json) {
    const unreachable = silences.map(({ address, error: { code, message } }) => ({ address, code, message }));
    terminal.out(`${JSON.stringify({ status: "ok", members, unreachable })}\n`);
  } else {
    for (const { address, error } of silences) terminal.error(`${silenceText(address, error)}\n`);
    terminal.out(members.length === 0 ? "single server\n" : statusTable(members));
  }
  const hasPrimary = members.length === 0 ||
    members.some(({ role, connected }) => role === "primary" && connected);
  if (!json && !hasPrimary) {
    const needed = (members.length >> 1) + 1;
    terminal.error(
      `There is no primary: ${needed} of the ${members.length} members must run and reach each other.\n`,
    );
  }
  return hasPrimary;
}

async function ask(address: string, { token, tls }: StatusRequest): Promise<Answer | Silence> {
  try {
    await using client = await OperationClient.connect({
      address,
      token,
      tls: tls ?? false,
      name: "dbcli",
      // What this very member says, whether it is the primary or not.
      readFrom: "follower",
      connectTimeoutMilliseconds: CONNECT_MILLISECONDS,
    });
    // However old the state is: it is asked for most when the cluster is in trouble.
    await client.execute("SET follower_max_staleness = -1");
    const rows = await client.query("SELECT * FROM pg_catalog.db_cluster ORDER BY member");
    return { address, rows: rows as unknown as MemberRow[] };
  } catch (error) {
    if (error instanceof DatabaseError) return { address, error };
    throw error;
  }
}

/** Why a member says nothing, and which. */
export function silenceText(address: string, { message }: Error): string {
  return message.includes(address) ? message : `${address}: ${message}`;
}

/** One row for each member, from what all of them say. */
export function mergeRows(answers: readonly (readonly MemberRow[])[]): MemberRow[] {
  const selves = answers.flatMap((rows) => rows.filter(({ is_self: isSelf }) => isSelf));
  const newest =
    selves.toSorted((a, b) =>
      (b.view ?? 0) - (a.view ?? 0) || Number(b.role === "primary") - Number(a.role === "primary")
    )[0];
  // The primary knows most; without one, a member of the latest view.
  const best = answers.find((rows) => rows.some((row) => row === newest)) ?? [];
  return best.map((seen) => {
    const own = selves.find(({ member }) => member === seen.member);
    if (own === undefined || own === seen) return seen;
    const { address, is_self, connected, last_contact_seconds } = seen;
    const lag = seen.lag_operations === null
      ? {}
      : { lag_operations: seen.lag_operations, lag_seconds: seen.lag_seconds };
    return { ...own, address, is_self, connected, last_contact_seconds, ...lag };
  });
}

/** The rows as people read them. */
export function statusTable(members: readonly MemberRow[]): string {
  const columns: readonly (readonly [string, "left" | "right", (row: MemberRow) => string])[] = [
    ["member", "right", ({ member }) => String(member)],
    ["address", "left", ({ address }) => address],
    ["role", "left", ({ role }) => role ?? ""],
    ["state", "left", stateText],
    ["view", "right", ({ view }) => view === null ? "" : String(view)],
    ["op", "right", ({ op }) => op === null ? "" : String(op)],
    ["commit", "right", ({ commit_op: op }) => op === null ? "" : String(op)],
    ["lag", "left", lagText],
    ["checkpoint", "left", checkpointText],
    ["version", "left", versionText],
    [
      "last contact",
      "right",
      ({ is_self: isSelf, last_contact_seconds: seconds }) =>
        isSelf || seconds === null ? "" : `${seconds.toFixed(1)} s`,
    ],
  ];
  return formatTable({
    names: columns.map(([name]) => name),
    alignRight: columns.map(([, side]) => side === "right"),
    rows: members.map((row) => columns.map(([, , text]) => text(row))),
  });
}

function stateText(row: MemberRow): string {
  const { state, transfer_bytes: bytes, transfer_total_bytes: total } = row;
  if (state === "transferring" && bytes !== null && total !== null) {
    return `fetching state, ${mebibytes(bytes)} of ${mebibytes(total)} MiB`;
  }
  if (state !== null) {
    return row.connected ? state.replaceAll("_", " ") : `${state.replaceAll("_", " ")}, cut off`;
  }
  return row.connected ? "connected" : "not connected";
}

/** Equal ones are equal files; the rest of the id is in the JSON. */
function checkpointText({ checkpoint_op: op, checkpoint_id: id }: MemberRow): string {
  return op === null || id === null ? "" : `${op} ${id.slice(0, 8)}`;
}

/** The active version of the cluster, and the newest that the member speaks if that is another one. */
function versionText({ cluster_version: active = null, spoken_version: spoken = null }: MemberRow): string {
  if (active === spoken) return active === null ? "" : String(active);
  return active === null ? `speaks ${spoken}` : `${active}, speaks ${spoken}`;
}

function lagText(row: MemberRow): string {
  const { lag_operations: operations, lag_seconds: seconds } = row;
  if (operations === null) return "";
  const age = seconds === null ? "" : `${seconds.toFixed(1)} s`;
  // A backup that follows is as old as the newest heartbeat; one that hears nothing cannot know what it lacks.
  if (operations === 0) return seconds !== null && seconds >= 1 ? age : follows(row) ? "none" : "";
  const words = operations === 1 ? "1 operation" : `${operations} operations`;
  return age === "" ? words : `${words}, ${age}`;
}

/** Whether it takes part, so that nothing known to be missing means that nothing is missing. */
function follows({ connected, state }: MemberRow): boolean {
  return connected && (state === null || state === "normal");
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
