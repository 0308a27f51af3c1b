"""One tool that asks through the client's form, by FastAPI and uvicorn. Stores nothing.

  fastapi_http.py PORT"""
import asyncio
import json
import sys

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

TOOL = {"name": "ask", "description": "Ask the human to choose",
        "inputSchema": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}}
ANSWER = {"type": "object", "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}}, "required": ["answer"]}
RESULTS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "fastapi", "version": "1.0.0"}},
    "tools/list": {"tools": [TOOL]},
    "ping": {},
}
app = FastAPI()
waiting: dict[int, asyncio.Future] = {}


def event(**message):
    return "data: " + json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n\n"


async def ask(call):
    question = len(waiting)
    waiting[question] = asyncio.get_running_loop().create_future()
    yield event(id=question, method="elicitation/create", params={
        "mode": "form", "message": call["params"]["arguments"]["prompt"], "requestedSchema": ANSWER})
    answer = await waiting[question]
    yield event(id=call["id"], result={"content": [{"type": "text", "text": answer}]})


@app.post("/mcp")
async def mcp(request: Request):
    message = await request.json()
    if "method" not in message:
        waiting[message["id"]].set_result(message["result"]["content"]["answer"])
    elif message["method"] == "tools/call":
        return StreamingResponse(ask(message), media_type="text/event-stream")
    elif "id" in message:
        return {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}
    return Response(status_code=202)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False, backlog=4096)
