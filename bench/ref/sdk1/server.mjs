// One tool that asks through the client's form, by the TypeScript SDK 1.x. Stores nothing.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const requestedSchema = {
  type: 'object',
  properties: { answer: { type: 'string', enum: ['yes', 'no'] } },
  required: ['answer'],
};
const mcp = new McpServer({ name: 'sdk1', version: '1.0.0' });

async function ask({ prompt }, { requestId }) {
  const reply = await mcp.server.elicitInput(
    { message: prompt, requestedSchema },
    { relatedRequestId: requestId },
  );
  return { content: [{ type: 'text', text: reply.content.answer }] };
}

mcp.registerTool(
  'ask',
  { description: 'Ask the human to choose', inputSchema: { prompt: z.string() } },
  ask,
);
await mcp.connect(new StdioServerTransport());
