// One tool that asks through the client's form, by the TypeScript SDK 1.x over HTTP, with sessions.
// Stores nothing.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { z } from 'zod';

const requestedSchema = {
  type: 'object',
  properties: { answer: { type: 'string', enum: ['yes', 'no'] } },
  required: ['answer'],
};
const sessions = new Map();

function newServer() {
  const mcp = new McpServer({ name: 'sdk1', version: '1.0.0' });
  const about = { description: 'Ask the human to choose', inputSchema: { prompt: z.string() } };
  mcp.registerTool('ask', about, async ({ prompt }, { requestId }) => {
    const reply = await mcp.server.elicitInput(
      { message: prompt, requestedSchema },
      { relatedRequestId: requestId, timeout: 600000 },
    );
    return { content: [{ type: 'text', text: reply.content.answer }] };
  });
  return mcp;
}

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await newServer().connect(transport);
  return transport;
}

createServer(async (request, response) => {
  const transport = sessions.get(request.headers['mcp-session-id']) ?? (await openSession());
  await transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), '127.0.0.1', 4096);
