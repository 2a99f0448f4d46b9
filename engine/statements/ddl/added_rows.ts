/** Values and checks of uncommitted rows whose table got columns while their transaction was open. */
import type { ExecutionContext } from "../../execution/runtime/execution.ts";
import { RowChanges } from "../../execution/modify/row_changes.ts";
import { detachedState } from "../../execution/modify/row_completion.ts";
import { rulesOf } from "../../execution/modify/table_rules.ts";
import type { BatchColumn, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { RowMaker } from "../../transactions/catch_up.ts";
import { columnOf } from "../copy/computed_columns.ts";

/** See the file's head. */
export class AddedRows implements RowMaker {
  readonly #context: ExecutionContext;
  readonly #state: ReturnType<typeof detachedState>;

  constructor(context: ExecutionContext) {
    this.#context = context;
    this.#state = detachedState(context);
  }

  value(tableId: number, position: number, row: readonly StoredValue[]): StoredValue {
    const { completion } = rulesOf(this.#context.writer.catalog, tableId);
    return completion.newValue(this.#context, position, row, this.#state);
  }

  column(storageClass: BatchColumn["storageClass"], values: readonly StoredValue[]): BatchColumn {
    return columnOf(storageClass, values);
  }

  checker(tableId: number): { check(id: RowId, values: StoredRow): void; finish(): boolean } {
    const changes = new RowChanges(this.#context, tableId, this.#state);
    const { completion } = changes.rules;
    return {
      check: (id, values) => {
        completion.complete(this.#context, values.slice(), this.#state);
        changes.created(id, values);
      },
      finish: () => changes.finish(),
    };
  }
}
