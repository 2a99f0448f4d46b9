/** The relations of pg_catalog and information_schema, computed from the catalog and the session. */
import type { VirtualRelation } from "../../sql/plan/plan.ts";
import type { Session } from "../session.ts";

/** Relations by `schema.name`; filled by the files beside this one. */
const RELATIONS = new Map<string, (session: Session) => VirtualRelation>();

/** The system relation of this name, as the session sees it. */
export function systemRelation(session: Session, schema: string, name: string): VirtualRelation | undefined {
  return RELATIONS.get(`${schema}.${name}`)?.(session);
}
