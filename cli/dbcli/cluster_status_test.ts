/** How `dbcli status` puts together what the members say. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { readCommand } from "./arguments.ts";
import { type MemberRow, mergeRows, silenceText, statusTable } from "./cluster_status.ts";

const NOTHING: MemberRow = {
  member: 0,
  address: "",
  role: null,
  is_self: false,
  state: null,
  connected: true,
  last_contact_seconds: null,
  view: null,
  op: null,
  commit_op: null,
  applied_op: null,
  lag_operations: null,
  lag_seconds: null,
  read_lease: null,
  transfer_op: null,
  transfer_bytes: null,
  transfer_total_bytes: null,
  checkpoint_op: null,
  checkpoint_id: null,
  cluster_version: null,
  spoken_version: null,
};

function seen(member: number, row: Partial<MemberRow>): MemberRow {
  return { ...NOTHING, member, address: `host${member}:7878`, ...row };
}

function self(member: number, row: Partial<MemberRow>): MemberRow {
  return seen(member, {
    is_self: true,
    state: "normal",
    op: 9,
    commit_op: 9,
    last_contact_seconds: 0,
    ...row,
  });
}

const MIB = 2 ** 20;

Deno.test("dbcli status: each member speaks for itself, the newest primary for what backups lack", () => {
  // The former primary is cut off and does not know of the later view.
  const former = [
    self(0, { role: "primary", view: 3, op: 12, lag_operations: 0, lag_seconds: 0 }),
    seen(1, { role: "backup", connected: false, op: 9, lag_operations: 0, lag_seconds: 0 }),
    seen(2, { role: "backup", connected: false }),
  ];
  const primary = [
    seen(0, { role: "backup", connected: false, last_contact_seconds: 4.25 }),
    self(1, {
      ...{ role: "primary", view: 4, lag_operations: 0, lag_seconds: 0 },
      ...{ cluster_version: 1, spoken_version: 1 },
    }),
    seen(2, { role: "backup", op: 5, lag_operations: 4, lag_seconds: 2.5, last_contact_seconds: 0.04 }),
  ];
  const backup = [
    seen(0, { role: "backup", address: "nat:1" }),
    seen(1, { role: "primary", address: "nat:2" }),
    self(2, {
      role: "backup",
      address: "nat:3",
      view: 4,
      op: 5,
      commit_op: 8,
      cluster_version: 1,
      spoken_version: 2,
      state: "transferring",
      lag_operations: 3,
      lag_seconds: 9,
      transfer_bytes: 3 * MIB,
      transfer_total_bytes: 12 * MIB,
      checkpoint_op: 4,
      checkpoint_id: "0123456789abcdef".repeat(4),
    }),
  ];
  const merged = mergeRows([former, primary, backup]);
  deepStrictEqual(merged, mergeRows([backup, primary, former]));
  deepStrictEqual(statusTable(merged).split("\n").map((line) => line.trimEnd()), [
    " member |  address   |  role   |              state              | view | op | commit |         lag         | checkpoint |   version   | last contact",
    "--------+------------+---------+---------------------------------+------+----+--------+---------------------+------------+-------------+--------------",
    "      0 | host0:7878 | primary | normal, cut off                 |    3 | 12 |      9 |                     |            |             |        4.3 s",
    "      1 | host1:7878 | primary | normal                          |    4 |  9 |      9 | none                |            | 1           |",
    "      2 | host2:7878 | backup  | fetching state, 3.0 of 12.0 MiB |    4 |  5 |      8 | 4 operations, 2.5 s | 4 01234567 | 1, speaks 2 |        0.0 s",
    "(3 rows)",
    "",
  ]);
});

Deno.test("dbcli status: without a primary the latest view speaks; a single server has no members", () => {
  const rows = mergeRows([[
    seen(0, { connected: false, last_contact_seconds: 7 }),
    self(1, { role: "backup", state: "view_change", view: 6, lag_operations: 0, lag_seconds: 7 }),
  ], [
    self(0, { role: "backup", view: 5, lag_operations: 1, lag_seconds: 0.5 }),
    seen(1, {}),
  ]]);
  deepStrictEqual(rows.map(({ role, state, view, connected }) => [role, state, view, connected]), [
    ["backup", "normal", 5, false],
    ["backup", "view_change", 6, true],
  ]);
  const lagsOf = (members: readonly MemberRow[]) =>
    statusTable(members).split("\n").slice(2, 2 + members.length).map((line) => line.split("|")[7]?.trim());
  deepStrictEqual(lagsOf(rows), ["1 operation, 0.5 s", "7.0 s"]);
  // What a member does not know to be missing is nothing only where it follows.
  const nothing = { role: "backup", lag_operations: 0, lag_seconds: 0 } as const;
  const states = ["normal", "transferring", "view_change", "recovering", null];
  deepStrictEqual(
    lagsOf([
      ...states.map((state) => self(0, { ...nothing, state })),
      seen(1, { ...nothing, connected: false }),
    ]),
    ["none", "", "", "", "none", ""],
  );
  deepStrictEqual(mergeRows([[]]), []);
});

Deno.test("dbcli status says which member does not answer", () => {
  const [address, starting] = ["a:7878", "the database system is starting up"];
  strictEqual(silenceText(address, new Error(starting)), `a:7878: ${starting}`);
  const refused = "Cannot connect to a:7878: connection refused";
  strictEqual(silenceText(address, new Error(refused)), refused);
});

Deno.test("dbcli status is a command and no statement", () => {
  const kind = (...parameters: string[]) => readCommand(parameters, {}, () => "").kind;
  strictEqual(kind("status"), "status");
  strictEqual(kind("--addrs", "a:1,b:2", "--json", "status"), "status");
  strictEqual(kind("SELECT status"), "run");
});
