// The tool of server.mjs by the TypeScript SDK 2.x over HTTP, revision 2026-07-28. Stores nothing.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';

const requestedSchema = z.object({ answer: z.enum(['yes', 'no']) });

async function ask({ prompt }, { mcpReq }) {
  const content = acceptedContent(mcpReq.inputResponses, 'choice', requestedSchema);
  if (content) return { content: [{ type: 'text', text: content.answer }] };
  return inputRequired({
    inputRequests: { choice: inputRequired.elicit({ message: prompt, requestedSchema }) },
    requestState: 'asked',
  });
}

function newServer() {
  const mcp = new McpServer({ name: 'sdk2', version: '1.0.0' });
  const inputSchema = z.object({ prompt: z.string() });
  mcp.registerTool('ask', { description: 'Ask the human to choose', inputSchema }, ask);
  return mcp;
}

const serve = toNodeHandler(createMcpHandler(newServer));
createServer(serve).listen(Number(process.argv[2]), '127.0.0.1', 4096);
