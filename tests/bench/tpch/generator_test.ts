/** TPC-H's data keeps to the specification: row counts, keys, ranges, and what depends on what. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { generate, type Table } from "./generator.ts";

const SCALE = 0.01;

function rowsOf(table: Table, scale = SCALE): string[][] {
  const decoder = new TextDecoder();
  let text = "";
  for (const chunk of generate(table, scale)) text += decoder.decode(chunk, { stream: true });
  return text.trimEnd().split("\n").map((line) => line.split("|"));
}

const tables = {
  supplier: rowsOf("supplier"),
  customer: rowsOf("customer"),
  part: rowsOf("part"),
  partsupp: rowsOf("partsupp"),
  orders: rowsOf("orders"),
  lineitem: rowsOf("lineitem"),
};

Deno.test("generate() makes as many rows as the specification says, each with all its columns", () => {
  const shape = Object.fromEntries(
    Object.entries(tables).filter(([name]) => name !== "lineitem").map(([name, rows]) => [name, rows.length]),
  );
  deepStrictEqual(shape, { supplier: 100, customer: 1500, part: 2000, partsupp: 8000, orders: 15_000 });
  ok(tables.lineitem.length > 58_000 && tables.lineitem.length < 62_000, `${tables.lineitem.length} lines`);
  const columns = { supplier: 7, customer: 8, part: 9, partsupp: 5, orders: 9, lineitem: 16 };
  for (const [name, rows] of Object.entries(tables)) {
    const expected = columns[name as keyof typeof columns];
    strictEqual(rows.find((row) => row.length !== expected), undefined, name);
  }
  strictEqual(rowsOf("nation").length, 25);
  strictEqual(rowsOf("region").length, 5);
});

Deno.test("generate() makes the same rows every time", () => {
  deepStrictEqual(rowsOf("supplier"), tables.supplier);
});

Deno.test("generate() keeps keys unique, sparse for orders, and references whole", () => {
  const unique = (rows: readonly string[][], columns: number) => {
    strictEqual(new Set(rows.map((row) => row.slice(0, columns).join())).size, rows.length);
  };
  unique(tables.part, 1);
  unique(tables.partsupp, 2);
  for (const scale of [0.0001, 0.003, 0.006, 0.015]) unique(rowsOf("partsupp", scale), 2);
  unique(tables.orders, 1);
  for (const [key] of tables.orders) ok((Number(key) - 1) % 32 < 8, `order key ${key}`);
  const supplied = new Set(tables.partsupp.map(([part, supplier]) => `${part},${supplier}`));
  const orders = new Set(tables.orders.map(([key]) => key));
  for (const [order, part, supplier] of tables.lineitem) {
    ok(supplied.has(`${part},${supplier}`), `part ${part} of supplier ${supplier}`);
    ok(orders.has(order), `order ${order}`);
  }
  for (const [, customer] of tables.orders) ok(Number(customer) % 3 !== 0 && Number(customer) <= 1500);
});

Deno.test("generate() derives prices, dates and states as the specification says", () => {
  const prices = new Map(tables.part.map((row) => [row[0], Number(row[7])]));
  strictEqual(prices.get("1"), 901);
  strictEqual(prices.get("1000"), 901);
  strictEqual(prices.get("1999"), 1900.99);
  const totals = new Map<string, { total: number; states: Set<string> }>();
  for (const line of tables.lineitem) {
    const [order = "", part, , , quantity, price, discount, tax, returned, state = "", ...dates] = line;
    const [shipped = "", committed = "", received = ""] = dates;
    strictEqual(Number(price), Math.round(Number(quantity) * (prices.get(part ?? "") ?? 0) * 100) / 100);
    strictEqual(state, shipped > "1995-06-17" ? "O" : "F");
    strictEqual(returned === "N", received > "1995-06-17");
    ok(received > shipped && committed >= "1992-01-31" && received <= "1998-12-31");
    ok(Number(discount) <= 0.1 && Number(tax) <= 0.08 && Number(quantity) >= 1 && Number(quantity) <= 50);
    const entry = totals.get(order) ?? { total: 0, states: new Set() };
    entry.total += Number(price) * (1 + Number(tax)) * (1 - Number(discount));
    entry.states.add(state);
    totals.set(order, entry);
  }
  for (const [key = "", , state, total, date = ""] of tables.orders) {
    const { total: sum, states } = totals.get(key) ?? { total: NaN, states: new Set() };
    ok(Math.abs(sum - Number(total)) < 0.011, `order ${key}: ${sum} is not ${total}`);
    strictEqual(state, states.size === 2 ? "P" : [...states][0]);
    ok(date >= "1992-01-01" && date <= "1998-08-02", date);
  }
});

Deno.test("generate() writes what the queries look for, neither nowhere nor everywhere", () => {
  const share = (rows: readonly string[][], column: number, pattern: RegExp) =>
    rows.filter((row) => pattern.test(row[column] ?? "")).length / rows.length;
  const between = (value: number, low: number, high: number) => ok(value > low && value < high, `${value}`);
  between(share(tables.orders, 8, /special.*requests/), 0.001, 0.2);
  between(share(tables.supplier, 6, /Customer.*Complaints/), 0.0001, 0.05);
  between(share(tables.part, 1, /green/), 0.02, 0.1);
  between(share(tables.part, 4, /BRASS$/), 0.15, 0.25);
  between(share(tables.customer, 6, /^BUILDING$/), 0.15, 0.25);
});
