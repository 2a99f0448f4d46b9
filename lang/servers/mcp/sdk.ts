/**
 * The protocol's own implementation, as far as it is used here.
 *
 * It is large, and only `lang mcp` needs it, so the rest of this folder imports its types alone and is given the
 * module by whoever starts a server: in the executable it is kept packed until then.
 */
export {
  createMcpHandler,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isLegacyRequest,
  McpServer,
  parseJSONRPCMessage,
  readRequestBody,
  ResourceNotFoundError,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
