// One tool that asks by the TypeScript SDK 2.x, revision 2026-07-28: the first call returns the
// question, the call that repeats it brings the answer. Stores nothing.
import { McpServer, acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
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

serveStdio(() => {
  const mcp = new McpServer({ name: 'sdk2', version: '1.0.0' });
  const inputSchema = z.object({ prompt: z.string() });
  mcp.registerTool('ask', { description: 'Ask the human to choose', inputSchema }, ask);
  return mcp;
});
