/** Names, object identifiers and modifiers of types. */
import assert from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import * as names from "./type_names.ts";

/** A name in SQL, its spelling, object identifier and modifier. */
const CASES: readonly (readonly [string, string, number, number])[] = [
  ["bool", "boolean", 16, -1],
  ["int", "integer", 23, -1],
  ["INT8", "bigint", 20, -1],
  ["smallint", "smallint", 21, -1],
  ["real", "real", 700, -1],
  ["double precision", "double precision", 701, -1],
  ["float(24)", "real", 700, -1],
  ["float", "double precision", 701, -1],
  ["varchar(10)", "character varying(10)", 1043, 14],
  ["character varying", "character varying", 1043, -1],
  ["char", "character(1)", 1042, 5],
  ["char(5)", "character(5)", 1042, 9],
  ['"char"', '"char"', 18, -1],
  ["numeric", "numeric", 1700, -1],
  ["decimal(10, 2)", "numeric(10,2)", 1700, 655366],
  ["numeric(5)", "numeric(5,0)", 1700, 327684],
  ["timestamp", "timestamp without time zone", 1114, -1],
  ["timestamp(3) with time zone", "timestamp(3) with time zone", 1184, 3],
  ["timestamptz", "timestamp with time zone", 1184, -1],
  ["time(0)", "time(0) without time zone", 1083, 0],
  ["interval", "interval", 1186, -1],
  ["text[]", "text[]", 1009, -1],
  ["int[][]", "integer[]", 1007, -1],
  ["_int4", "integer[]", 1007, -1],
  ["u8", "u8", 21, -1],
  ["u16", "u16", 23, -1],
  ["u32", "u32", 20, -1],
  ["u64", "u64", 1700, -1],
  ["bytes(16)", "bytes(16)", 17, -1],
  ["bytea", "bytea", 17, -1],
  ["uuid", "uuid", 2950, -1],
  ["jsonb", "jsonb", 3802, -1],
  ["pg_catalog.text", "text", 25, -1],
  ["regclass", "regclass", 2205, -1],
];

Deno.test("parseTypeText(), formatType(), typeOid() and typeModifier() agree with PostgreSQL", () => {
  for (const [name, spelling, oid, modifier] of CASES) {
    const type = names.parseTypeText(name);
    assert.ok(type !== undefined, name);
    assert.equal(names.formatType(type), spelling, name);
    assert.equal(names.typeOid(type), oid, name);
    assert.equal(names.typeModifier(type), modifier, name);
  }
});

Deno.test("typeByOid() gives back the type of the wire", () => {
  for (const [name, spelling, oid, modifier] of CASES) {
    const type = names.typeByOid(oid, modifier);
    assert.ok(type !== undefined, name);
    assert.equal(names.typeOid(type), oid === 1042 && modifier < 0 ? 25 : oid);
    if (!/^[u_"b]|float/.test(name)) assert.equal(names.formatType(type), spelling, name);
  }
  assert.equal(names.typeByOid(999999), undefined);
});

Deno.test("resolveTypeName() suggests a close name", () => {
  assert.throws(() => names.resolveTypeName({ words: ["integr"] }), (error) => {
    assert.ok(error instanceof DatabaseError);
    assert.equal(error.code, "42704");
    assert.equal(error.message, 'type "integr" does not exist');
    assert.equal(error.hint, 'Did you mean "integer"?');
    return true;
  });
});

Deno.test("typeByName() checks modifiers", () => {
  assert.throws(
    () => names.typeByName(["numeric"], [1001]),
    /NUMERIC precision 1001 must be between 1 and 1000/,
  );
  assert.throws(() => names.typeByName(["varchar"], [0]), /length for type varchar must be at least 1/);
  assert.throws(() => names.typeByName(["int"], [3]), /type modifier is not allowed for type "int"/);
  assert.throws(
    () => names.typeByName(["float"], [54]),
    /precision for type float must be less than 54 bits/,
  );
});

Deno.test("serialTypeOf() knows the serial types", () => {
  assert.deepEqual(names.serialTypeOf("bigserial"), { kind: "i64" });
  assert.equal(names.serialTypeOf("int"), undefined);
});

Deno.test("equalTypes() compares modifiers too", () => {
  const type = (name: string) => names.parseTypeText(name) ?? { kind: "void" as const };
  assert.ok(names.equalTypes(type("varchar(3)"), type("varchar(3)")));
  assert.ok(!names.equalTypes(type("varchar(3)"), type("varchar(4)")));
  assert.ok(!names.equalTypes(type("numeric"), type("numeric(5,2)")));
  assert.ok(names.equalTypes(type("text[]"), type("text[]")));
});
