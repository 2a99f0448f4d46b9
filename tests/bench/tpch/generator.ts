/**
 * TPC-H's tables after the specification's clause 4.2.3: its row counts, key formulas, value ranges and dependencies,
 * from a seed of its own, so that the rows are not those of the council's program.
 *
 * Each row's chance comes from its table and number alone: a table can be made again, or ORDERS without LINEITEM,
 * with the same rows. Rows leave as chunks of `|`-separated text in the order of their keys.
 */
import { SeededRandom } from "../../../engine/base/random.ts";
import {
  COLORS,
  CONTAINERS,
  INSTRUCTIONS,
  MODES,
  NATIONS,
  PRIORITIES,
  REGIONS,
  SEGMENTS,
  TYPES,
} from "./distributions.ts";
import { RowWriter } from "./row_writer.ts";
import { textPool } from "./text_pool.ts";

/** The tables, in an order in which each comes after those that it refers to. */
export const TABLES = [
  "region",
  "nation",
  "supplier",
  "customer",
  "part",
  "partsupp",
  "orders",
  "lineitem",
] as const;

/** A table's name. */
export type Table = (typeof TABLES)[number];

/** Days since 1970 of the specification's STARTDATE, CURRENTDATE and ENDDATE. */
const START_DATE = Date.UTC(1992, 0, 1) / 86_400_000;
const CURRENT_DATE = Date.UTC(1995, 5, 17) / 86_400_000;
const END_DATE = Date.UTC(1998, 11, 31) / 86_400_000;

const SUPPLIERS_OF_A_PART = 4;
const ADDRESS_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz, ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Keys of a scale, which need not be whole: 0.01 has 100 suppliers. */
interface Counts {
  readonly suppliers: number;
  readonly customers: number;
  readonly parts: number;
  readonly orders: number;
  readonly clerks: number;
}

function countsOf(scale: number): Counts {
  return {
    suppliers: Math.max(SUPPLIERS_OF_A_PART, Math.round(10_000 * scale)),
    customers: Math.max(3, Math.round(150_000 * scale)),
    parts: Math.max(1, Math.round(200_000 * scale)),
    orders: Math.max(1, Math.round(1_500_000 * scale)),
    clerks: Math.max(1, Math.round(1_000 * scale)),
  };
}

/** Rows of one table in chunks of text, `|` between the fields, a newline after each row. */
export function* generate(table: Table, scale: number): Generator<Uint8Array<ArrayBuffer>> {
  const counts = countsOf(scale);
  const writer = new RowWriter();
  const rows = rowsOf(table, counts);
  for (let row = 0; row < rows; row++) {
    writeRows[table](writer, row, counts);
    if (writer.isFull) yield writer.take();
  }
  yield writer.take();
}

/** How many times the row function of a table is called; PARTSUPP and LINEITEM write several rows each time. */
function rowsOf(table: Table, counts: Counts): number {
  switch (table) {
    case "region":
      return REGIONS.length;
    case "nation":
      return NATIONS.length;
    case "supplier":
      return counts.suppliers;
    case "customer":
      return counts.customers;
    case "part":
    case "partsupp":
      return counts.parts;
    case "orders":
    case "lineitem":
      return counts.orders;
  }
}

const writeRows: Readonly<Record<Table, (writer: RowWriter, row: number, counts: Counts) => void>> = {
  region: (writer, row) => {
    const random = randomOf("region", row);
    writer.integer(row).text(REGIONS[row] ?? "");
    comment(writer, random, 31, 115);
    writer.endRow();
  },
  nation: (writer, row) => {
    const random = randomOf("nation", row);
    const [name, region] = NATIONS[row] ?? ["", 0];
    writer.integer(row).text(name).integer(region);
    comment(writer, random, 31, 114);
    writer.endRow();
  },
  supplier: writeSupplier,
  customer: writeCustomer,
  part: writePart,
  partsupp: writePartSuppliers,
  orders: writeOrder,
  lineitem: writeLines,
};

function randomOf(table: Table, row: number): SeededRandom {
  // Not the generator's own increment, or neighboring rows would share parts of their states.
  return new SeededRandom((TABLES.indexOf(table) + 1) * 0x1_0000_0000 + (Math.imul(row, 0x2c1b3c6d) >>> 0));
}

function pick(random: SeededRandom, list: readonly string[]): string {
  return list[random.below(list.length)] ?? "";
}

/** A stretch of the pool. */
function comment(writer: RowWriter, random: SeededRandom, shortest: number, longest: number): void {
  const pool = textPool();
  const length = random.between(shortest, longest);
  writer.bytes(pool, random.below(pool.length - length), length);
}

function address(writer: RowWriter, random: SeededRandom): void {
  let text = "";
  for (let length = random.between(10, 40); length > 0; length--) {
    text += ADDRESS_CHARACTERS[random.below(ADDRESS_CHARACTERS.length)] ?? "";
  }
  writer.text(text);
}

function phone(writer: RowWriter, random: SeededRandom, nation: number): void {
  const parts = [random.between(100, 999), random.between(100, 999), random.between(1000, 9999)];
  writer.text(`${nation + 10}-${parts.join("-")}`);
}

function writeSupplier(writer: RowWriter, row: number, { suppliers }: Counts): void {
  const random = randomOf("supplier", row);
  const key = row + 1;
  const nation = random.below(NATIONS.length);
  writer.integer(key).numbered("Supplier", key);
  address(writer, random);
  writer.integer(nation);
  phone(writer, random, nation);
  writer.hundredths(random.between(-99_999, 999_999));
  // 5 of 10 000 suppliers have complaints, 5 recommendations: a block of rows each, wherever chance begins it.
  const few = Math.max(1, Math.round(suppliers / 2000));
  const place = (row * 7919 + 17) % suppliers;
  if (place < few) remark(writer, random, "Customer", "Complaints");
  else if (place < few * 2) remark(writer, random, "Customer", "Recommends");
  else comment(writer, random, 25, 100);
  writer.endRow();
}

/** A comment that holds two words with some text between them. */
function remark(writer: RowWriter, random: SeededRandom, first: string, second: string): void {
  const pool = textPool();
  const length = random.between(25 + first.length + second.length, 100) - first.length - second.length;
  const start = random.below(pool.length - length);
  const before = random.below(length), between = random.below(length - before);
  const piece = (from: number, to: number) =>
    new TextDecoder().decode(pool.subarray(start + from, start + to));
  writer.text(
    piece(0, before) + first + piece(before, before + between) + second + piece(before + between, length),
  );
}

function writeCustomer(writer: RowWriter, row: number): void {
  const random = randomOf("customer", row);
  const key = row + 1;
  const nation = random.below(NATIONS.length);
  writer.integer(key).numbered("Customer", key);
  address(writer, random);
  writer.integer(nation);
  phone(writer, random, nation);
  writer.hundredths(random.between(-99_999, 999_999)).text(pick(random, SEGMENTS));
  comment(writer, random, 29, 116);
  writer.endRow();
}

/** P_RETAILPRICE in hundredths. */
function retailPrice(part: number): number {
  return 90_000 + Math.floor(part / 10) % 20_001 + 100 * (part % 1000);
}

function writePart(writer: RowWriter, row: number): void {
  const random = randomOf("part", row);
  const key = row + 1;
  const colors = new Set<string>();
  while (colors.size < 5) colors.add(pick(random, COLORS));
  const manufacturer = random.between(1, 5);
  writer.integer(key).text([...colors].join(" "))
    .text(`Manufacturer#${manufacturer}`)
    .text(`Brand#${manufacturer}${random.between(1, 5)}`)
    .text(TYPES.map((syllables) => pick(random, syllables)).join(" "))
    .integer(random.between(1, 50))
    .text(CONTAINERS.map((syllables) => pick(random, syllables)).join(" "))
    .hundredths(retailPrice(key));
  comment(writer, random, 5, 22);
  writer.endRow();
}

/** The key of a part's supplier of number 0 to 3 (PS_SUPPKEY). */
function supplierOf(part: number, number: number, suppliers: number): number {
  let step = Math.floor(suppliers / SUPPLIERS_OF_A_PART) + Math.floor((part - 1) / suppliers);
  // Of few suppliers (30 and 150, for instance) the specification's formula names one twice.
  while (step * 2 % suppliers === 0 || step * 3 % suppliers === 0) step++;
  return (part + number * step) % suppliers + 1;
}

function writePartSuppliers(writer: RowWriter, row: number, { suppliers }: Counts): void {
  const random = randomOf("partsupp", row);
  const part = row + 1;
  for (let number = 0; number < SUPPLIERS_OF_A_PART; number++) {
    writer.integer(part).integer(supplierOf(part, number, suppliers))
      .integer(random.between(1, 9999)).hundredths(random.between(100, 100_000));
    comment(writer, random, 49, 198);
    writer.endRow();
  }
}

/** Only the first eight of each 32 order keys are used. */
function orderKey(row: number): number {
  return Math.floor(row / 8) * 32 + row % 8 + 1;
}

/** What an order's row depends on in its lines, and the lines. */
interface Order {
  readonly random: SeededRandom;
  readonly date: number;
  readonly lines: readonly Line[];
}

interface Line {
  readonly part: number;
  readonly supplier: number;
  readonly quantity: number;
  /** Hundredths. */
  readonly price: number;
  readonly discount: number;
  readonly tax: number;
  readonly shipped: number;
  readonly committed: number;
  readonly received: number;
}

function orderOf(row: number, { parts, suppliers }: Counts): Order {
  const random = randomOf("orders", row);
  const date = random.between(START_DATE, END_DATE - 151);
  const lines = Array.from({ length: random.between(1, 7) }, (): Line => {
    const part = random.between(1, parts);
    const quantity = random.between(1, 50);
    const shipped = date + random.between(1, 121);
    return {
      part,
      supplier: supplierOf(part, random.below(SUPPLIERS_OF_A_PART), suppliers),
      quantity,
      price: quantity * retailPrice(part),
      discount: random.below(11),
      tax: random.below(9),
      shipped,
      committed: date + random.between(30, 90),
      received: shipped + random.between(1, 30),
    };
  });
  return { random, date, lines };
}

function writeOrder(writer: RowWriter, row: number, counts: Counts): void {
  const { random, date, lines } = orderOf(row, counts);
  const open = lines.filter((line) => line.shipped > CURRENT_DATE).length;
  // A third of the customers has no order: keys that 3 divides.
  let customer = random.between(1, counts.customers);
  while (customer % 3 === 0) customer = random.between(1, counts.customers);
  const total = lines.reduce(
    (sum, { price, tax, discount }) => sum + price * (100 + tax) * (100 - discount),
    0,
  );
  writer.integer(orderKey(row)).integer(customer)
    .text(open === 0 ? "F" : open === lines.length ? "O" : "P")
    .hundredths(Math.round(total / 10_000)).text(isoDate(date)).text(pick(random, PRIORITIES))
    .numbered("Clerk", random.between(1, counts.clerks)).integer(0);
  comment(writer, random, 19, 78);
  writer.endRow();
}

function writeLines(writer: RowWriter, row: number, counts: Counts): void {
  const { lines } = orderOf(row, counts);
  const random = randomOf("lineitem", row);
  const key = orderKey(row);
  for (const [index, line] of lines.entries()) {
    const returned = line.received <= CURRENT_DATE ? (random.below(2) === 0 ? "R" : "A") : "N";
    writer.integer(key).integer(line.part).integer(line.supplier).integer(index + 1)
      .hundredths(line.quantity * 100).hundredths(line.price)
      .hundredths(line.discount).hundredths(line.tax)
      .text(returned).text(line.shipped > CURRENT_DATE ? "O" : "F")
      .text(isoDate(line.shipped)).text(isoDate(line.committed)).text(isoDate(line.received))
      .text(pick(random, INSTRUCTIONS)).text(pick(random, MODES));
    comment(writer, random, 10, 43);
    writer.endRow();
  }
}

const dates = new Map<number, string>();

/** A day since 1970 as YYYY-MM-DD. */
function isoDate(day: number): string {
  let text = dates.get(day);
  if (text === undefined) dates.set(day, text = new Date(day * 86_400_000).toISOString().slice(0, 10));
  return text;
}
