/** The feature `http-gateway`: the one place from which HTTP and WebSocket are linked. */
export { startHttpServer } from "../../gateways/http/server.ts";
