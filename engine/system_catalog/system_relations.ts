/**
 * The relations of pg_catalog and information_schema, computed from the catalog and the session. Their shapes are
 * complete; those without a provider have no rows, because what they describe does not exist here.
 *
 * A relation belongs to no session: plans that scan it are shared, and whose rows it has is decided when it is scanned.
 */
import type { SequenceDefinition } from "../catalog/definitions.ts";
import type { VirtualRelation } from "../sql/plan/plan.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { catalogContextOf } from "./catalog_context.ts";
import { BROWSING_RELATIONS } from "./browsing_catalog.ts";
import { STATISTICS_RELATIONS } from "./statistics_catalog.ts";
import { CLUSTER_RELATIONS } from "./cluster_catalog.ts";
import { CLASS_RELATIONS, SEQUENCE_COLUMNS } from "./class_catalog.ts";
import { CONSTRAINT_RELATIONS } from "./constraint_catalog.ts";
import { EXTERNAL_RELATIONS } from "./external_catalog.ts";
import { INFORMATION_SCHEMA_RELATIONS } from "./information_schema.ts";
import { OPERATOR_CLASS_RELATIONS } from "./operator_classes.ts";
import { catalogRows, provideRows, type RelationProviders } from "./relation_provider.ts";
import { CATALOG_SHAPES, type CatalogShape } from "./relation_shape.ts";
import { builtInRoutineRows, ROUTINE_RELATIONS } from "./routine_catalog.ts";
import { SERVER_RELATIONS } from "./server_catalog.ts";
import { TYPE_RELATIONS } from "./type_catalog.ts";
import { userRoutineRows } from "./user_routines.ts";

const CATALOG_PROVIDERS: RelationProviders = {
  ...TYPE_RELATIONS,
  ...CLASS_RELATIONS,
  ...CONSTRAINT_RELATIONS,
  ...OPERATOR_CLASS_RELATIONS,
  ...ROUTINE_RELATIONS,
  pg_proc: catalogRows((context) => [...builtInRoutineRows(), ...userRoutineRows(context)]),
  ...SERVER_RELATIONS,
  ...CLUSTER_RELATIONS,
  ...BROWSING_RELATIONS,
  ...STATISTICS_RELATIONS,
  ...EXTERNAL_RELATIONS,
};

const relations = new Map<string, VirtualRelation>();

function relationOf(shape: CatalogShape): VirtualRelation {
  const provider =
    (shape.schema === "pg_catalog" ? CATALOG_PROVIDERS : INFORMATION_SCHEMA_RELATIONS)[shape.name];
  return {
    id: shape.id,
    schema: shape.schema,
    name: shape.name,
    columns: shape.columns,
    rows: (context) => provideRows(shape, provider, context),
  };
}

/** A sequence as a relation of one row: its state. */
function sequenceRelation(definition: SequenceDefinition): VirtualRelation {
  return {
    id: definition.id,
    schema: definition.schema,
    name: definition.name,
    columns: SEQUENCE_COLUMNS.map(([name, type]) => ({ name, type })),
    rows: (context) => {
      const state = catalogContextOf(context).machine.sequences.state(definition);
      return [[state.value, 0, state.called]];
    },
  };
}

/** The system relation, or the sequence, of this name. */
export function systemRelation(catalog: Catalog, schema: string, name: string): VirtualRelation | undefined {
  const key = `${schema}.${name}`;
  const known = relations.get(key);
  if (known !== undefined) return known;
  const shape = CATALOG_SHAPES.get(key);
  if (shape === undefined) {
    const relation = catalog.relation(schema, name);
    return relation?.kind === "sequence" ? sequenceRelation(relation.sequence) : undefined;
  }
  const relation = relationOf(shape);
  relations.set(key, relation);
  return relation;
}

/** Names of all system relations, for suggestions. */
export function systemRelationNames(): readonly string[] {
  return [...CATALOG_SHAPES.values()].map((shape) => shape.name);
}
