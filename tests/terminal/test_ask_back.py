"""Asking back on a terminal: typed, told to the agent, explained beside the question; what was chosen stays.

Proves: R2.2 R5.1
"""
from __future__ import annotations


from stage import Tmux, let_answer  # first: it finds the harness

from cli_stage import PROMPT
from harness import Home, Wire, run, test, wait_until

CHOICE = {"title": "Which cache?", "prompt": PROMPT, "selection_mode": "single", "options": [
    {"id": "redis", "label": "Redis", "recommended": True}, {"id": "view", "label": "View"}, {"id": "none", "label": "None"}]}
EXPLAINED = "They wait in a queue.\nSecond line \u202e\u001b]0;stolen\u0007 of it"


@test("b asks back and Esc keeps what was typed; the explanation comes immediately and is there after kill -9", "R2.2 R5.1")
def there_and_back(home: Home) -> None:
    home.sayso("status")
    home.sayso("list")  # starts a hub
    agent = Wire(home)
    agent.hello("agent", name="bot", directory="/shop")
    asking = agent.start("ask/create", tool="provide_choice", arguments=CHOICE, tag="t")
    session_id = wait_until(lambda: home.sayso("list", "--json").json, "it is asked")[0]["session_id"]
    with Tmux(home, rows=40) as tmux:
        tmux.start("attach", session_id)
        tmux.wait("Enter")
        let_answer()
        tmux.keys("j")
        tmux.keys("b")
        tmux.wait("Your question")
        tmux.keys("What of")
        tmux.wait("What of")
        tmux.keys("Escape")
        tmux.wait_gone("Your question")
        tmux.keys("b")
        tmux.wait("What of")
        tmux.keys(" orders")
        tmux.enter("What of orders")
        tmux.wait("Question sent")
        assert "stopped waiting. You" not in tmux.wait("What of orders"), tmux.text()
        back = agent.finish(asking)
        assert (back["action_status"], back["asked_back"]) == ("pending", "What of orders"), back
        waiting = agent.start("ask/wait", session_id=session_id, wait_seconds=60, explanation=EXPLAINED)
        shown = tmux.wait("They wait in a queue")
        assert "Second line" in shown and "bot" in shown and "Question sent" not in shown, shown
        home.kill_hub()
        home.sayso("list")
        tmux.wait("They wait in a queue")
        tmux.wait_gone("(?i)connection|reconnect|lost")
        agent = Wire(home)
        agent.hello("agent", name="bot", directory="/shop")
        waiting = agent.start("ask/wait", session_id=session_id, wait_seconds=60)
        tmux.enter("They wait in a queue")  # the cursor stayed where it was
        tmux.enter(rf"Saved: Materialized|^{tmux.mark}=")
        got = agent.finish(waiting)
        assert got["selection"]["selected_ids"] == ["view"], got


run()
