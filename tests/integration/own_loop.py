"""A server of a test in a thread of its own, with an event loop of its own. Who builds on it says how it listens
(`listen`), and calls `begin` once it has all that needs."""
from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import Any, Callable

logging.getLogger("asyncio").setLevel(logging.ERROR)  # to write to who has just left is nothing to tell


class OwnLoop(contextlib.AbstractContextManager):
    """`port` is where it listens, on loopback. `problems` are faults of its own, which fail the test at the end."""

    def __init__(self) -> None:
        self.problems: list[BaseException] = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._live, daemon=True)
        self._is_up = threading.Event()

    async def listen(self) -> asyncio.Server:
        raise NotImplementedError

    def leave(self) -> None:
        """In its thread, when new connections are no longer taken and before the open ones are cut off."""

    def begin(self) -> None:
        self.thread.start()
        self._is_up.wait()

    def _live(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.listener = self.loop.run_until_complete(self.listen())
        self.port = self.listener.sockets[0].getsockname()[1]
        self._is_up.set()
        self.loop.run_forever()

    def call(self, act: Callable[[], Any]) -> Any:
        """In its thread, and done when this returns."""
        async def do() -> Any:
            return act()
        return asyncio.run_coroutine_threadsafe(do(), self.loop).result(60)

    def stop(self) -> None:
        async def end() -> None:
            self.listener.close()
            self.leave()
            rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)
        if self.thread.is_alive():
            asyncio.run_coroutine_threadsafe(end(), self.loop).result(60)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()

    def __exit__(self, *_: Any) -> None:
        self.stop()
        assert not self.problems, self.problems
