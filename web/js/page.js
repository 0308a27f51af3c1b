/** Says hello with the code of a link or with the token this tab has. */
export function connect() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (location.hash) history.replaceState(null, "", location.pathname);
  const token = sessionStorage.getItem("token");
  const socket = new WebSocket(`ws://${location.host}/ws`);
  const hello = { wire: 1, role: "person", ...(code ? { code } : { token }) };
  socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hello", params: hello }));
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.result?.token) sessionStorage.setItem("token", message.result.token);
    document.getElementById("page").textContent = message.error ? message.error.message : message.result.tab;
  };
}

connect();
