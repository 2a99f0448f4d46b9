/** The feature `pg-gateway`: the one place from which the PG wire protocol is linked. */
export { startPgServer } from "../../gateways/pg/server.ts";
