/**
 * Generated code around a {@link RowBuffer}: appending rows and reading them back.
 */
import type { ColumnRef } from "../../sql/plan/expression.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { ExecutionState } from "../runtime/execution_state.ts";
import { NULL_CODE } from "../runtime/hashing.ts";
import { type ColumnLayout, RowBuffer, storageOf } from "../runtime/row_buffer.ts";
import { slotObject } from "../runtime/slot_object.ts";
import type { Compilation } from "./compilation.ts";
import type { Binding, Emitter, StoredLocation, Value } from "./emitter.ts";
import { anyNull, nullableCode, placeholder } from "./value_form.ts";

/** A column of a buffer; `column` null: only its position matters. */
export interface BufferColumn extends ColumnLayout {
  readonly column: ColumnRef | null;
  readonly type: SqlType;
}

/** A buffer column for values of a type. */
export function bufferColumn(column: ColumnRef | null, type: SqlType, nullable: boolean): BufferColumn {
  return { column, type, storage: storageOf(type), nullable };
}

/** A buffer column for key codes. */
export const codeColumn: BufferColumn = {
  column: null,
  type: { kind: "f64" },
  storage: "code",
  nullable: true,
};

/** The buffer of a slot, made at first use. */
export function bufferOf(state: ExecutionState, slot: number, layout: readonly ColumnLayout[]): RowBuffer {
  return slotObject(state, slot, RowBuffer, layout);
}

interface AppendNames {
  readonly buffer: string;
  readonly count: string;
  readonly capacity: string;
  readonly data: readonly string[];
  readonly nulls: readonly string[];
}

/** Names of a buffer that is read. */
export interface ReadNames {
  readonly buffer: string;
  readonly columns: readonly { readonly column: string; readonly data: string; readonly nulls: string }[];
}

/** Generated code around a {@link RowBuffer}: appending rows and reading them back. */
export class BufferCode {
  readonly slot: number;
  readonly columns: readonly BufferColumn[];

  constructor(compilation: Compilation, columns: readonly BufferColumn[]) {
    this.slot = compilation.newSlot();
    this.columns = columns;
  }

  /** An expression of the buffer itself. */
  get(code: Emitter): string {
    return `${code.use("bufferOf", bufferOf)}(S, ${this.slot}, ${code.constant("layout", this.columns)})`;
  }

  /** Declares what {@link append} uses. */
  openAppend(code: Emitter): void {
    const names: AppendNames = {
      buffer: code.define("buffer", this.get(code)),
      count: code.name("rows"),
      capacity: code.name("capacity"),
      data: this.columns.map(() => code.name("d")),
      nulls: this.columns.map(() => code.name("x")),
    };
    code.emit(`let ${names.count} = ${names.buffer}.count, ${names.capacity} = ${names.buffer}.capacity;`);
    code.noteNumber(names.count);
    code.noteNumber(names.capacity);
    this.columns.forEach((column, index) => {
      code.emit(`let ${names.data[index]} = ${names.buffer}.columns[${index}].data;`);
      if (hasNulls(column)) code.emit(`let ${names.nulls[index]} = ${names.buffer}.columns[${index}].nulls;`);
    });
    code.note(this, names);
  }

  /** Appends a row; the new row's number is the answer. */
  append(code: Emitter, values: readonly Value[]): string {
    const names = code.recall<AppendNames>(this);
    const { buffer, count, capacity } = names;
    const row = code.name("row");
    code.block(`if (${count} === ${capacity}) `, "conditional", () => {
      code.emit(`${buffer}.grow(${count}); ${capacity} = ${buffer}.capacity;`);
      this.columns.forEach((column, index) => {
        code.emit(`${names.data[index]} = ${buffer}.columns[${index}].data;`);
        if (hasNulls(column)) code.emit(`${names.nulls[index]} = ${buffer}.columns[${index}].nulls;`);
      });
    });
    code.emit(`const ${row} = ${count}++;`);
    this.columns.forEach((column, index) => {
      const value = values[index];
      if (value === undefined) return;
      const data = `${names.data[index]}[${row}]`;
      if (column.storage === "ref") {
        code.emit(`${data} = ${nullableCode(value)};`);
        return;
      }
      if (column.storage === "code") {
        code.emit(`${data} = ${value.code};`);
        return;
      }
      const isNull = value.isNull;
      if (hasNulls(column)) {
        code.emit(
          `${names.nulls[index]}[${row}] = ${
            isNull === null ? "0" : isNull === "true" ? "1" : `${isNull} ? 1 : 0`
          };`,
        );
      }
      if (isNull === "true") return;
      const kept = column.storage === "bool" ? `${value.code} ? 1 : 0` : value.code;
      const guarded = isNull === null
        ? kept
        : `${isNull} ? 0 : ${column.storage === "bool" ? `(${kept})` : kept}`;
      if (column.storage !== "number_or_bigint" || value.plain === true) {
        code.emit(`${data} = ${guarded};`);
        return;
      }
      const test = anyNull([isNull, `typeof ${value.code} === "number"`]);
      code.emit(`if (${test}) ${data} = ${guarded};`);
      code.emit(`else { ${data} = NaN; ${buffer}.columns[${index}].putBig(${row}, ${value.code}); }`);
    });
    return row;
  }

  /** What {@link append} keeps of a stored text, in a column that takes such ({@link ColumnLayout.texts}). */
  keptText(code: Emitter, position: number, { table, location, columnId }: StoredLocation): Value {
    const { buffer } = code.recall<AppendNames>(this);
    const kept = `${buffer}.columns[${position}].texts.keep(${table}, ${location}, ${columnId})`;
    return { code: kept, isNull: null };
  }

  /** Emits the reload of what {@link append} uses, after something else has changed the buffer. */
  emitReload(code: Emitter): void {
    const names = code.recall<AppendNames>(this);
    const { buffer } = names;
    code.emit(`${names.count} = ${buffer}.count; ${names.capacity} = ${buffer}.capacity;`);
    this.columns.forEach((column, index) => {
      code.emit(`${names.data[index]} = ${buffer}.columns[${index}].data;`);
      if (hasNulls(column)) code.emit(`${names.nulls[index]} = ${buffer}.columns[${index}].nulls;`);
    });
  }

  /** Declares what reading uses. */
  openRead(code: Emitter): ReadNames {
    const buffer = code.define("buffer", this.get(code));
    return {
      buffer,
      columns: this.columns.map((column, index) => {
        const name = code.define("column", `${buffer}.columns[${index}]`);
        return {
          column: name,
          data: code.define("d", `${name}.data`),
          nulls: hasNulls(column) ? code.define("x", `${name}.nulls`) : "",
        };
      }),
    };
  }

  /** Writes the number of rows back. */
  closeAppend(code: Emitter): void {
    const { buffer, count } = code.recall<AppendNames>(this);
    code.emit(`${buffer}.count = ${count};`);
  }

  /**
   * The binding of a column at a row. `absent`: an expression that says that there is no row and all is NULL.
   */
  binding(names: ReadNames, position: number, row: string, absent: string | null = null): Binding {
    const column = this.columns[position] as BufferColumn;
    const { data, nulls, column: holder } = names.columns[position] as ReadNames["columns"][number];
    const hasTexts = column.texts !== undefined && absent === null;
    return {
      type: column.type,
      cheap: true,
      ...(hasTexts ? { stored: { table: names.buffer, location: row, columnId: position } } : {}),
      load: (code) => {
        if (column.storage === "ref") {
          const kept = column.texts === undefined ? `${data}[${row}]` : `${holder}.decoded(${data}[${row}])`;
          const name = code.define("v", absent === null ? kept : `${absent} ? null : ${kept}`);
          return { code: name, isNull: column.nullable || absent !== null ? `${name} === null` : null };
        }
        const isNull = anyNull([absent, hasNulls(column) ? `${nulls}[${row}] !== 0` : null]);
        const flag = isNull === null ? null : code.define("n", isNull);
        const read = column.storage === "bool" ? `${data}[${row}] !== 0` : `${data}[${row}]`;
        const guarded = absent === null ? read : `${absent} ? ${placeholder(column.type)} : ${read}`;
        if (column.storage !== "number_or_bigint") {
          return { code: code.define("v", guarded), isNull: flag, plain: true };
        }
        const name = code.name("v");
        code.emit(`let ${name} = ${guarded};`);
        code.emit(`if (${name} !== ${name}) ${name} = ${holder}.getBig(${row});`);
        return { code: name, isNull: flag };
      },
    };
  }

  /** Binds all columns that have a name. */
  bindRow(code: Emitter, names: ReadNames, row: string, absent: string | null = null): void {
    this.columns.forEach((column, index) => {
      if (column.column !== null) code.bind(column.column, this.binding(names, index, row, absent));
    });
  }
}

function hasNulls(column: BufferColumn): boolean {
  return column.nullable && column.storage !== "ref" && column.storage !== "code";
}

/** The literal of the key code of NULL. */
export const nullCodeLiteral = `${NULL_CODE}`;
