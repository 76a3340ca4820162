"""A session from start to end: what it is shown, once, and what the next one finds."""

from __future__ import annotations

from tests.loop.agent import Agent, ids


def test_a_prompt_is_answered_with_what_is_remembered_about_it(agent: Agent) -> None:
    """Only what fits is shown, at most five, and not what the session has already."""
    fits = agent.http.store("The staging database listens on port 6380", kind="project-knowledge")
    agent.http.store("Uploaded TIFF images above 50 MB crash the resizer")
    agent.start()
    told = agent.prompt("Why can't I connect to the staging database?")
    assert ids(told["context"]) == [fits]
    assert agent.prompt("Connect to the staging database on its port")["context"] is None
    agent.tell("post_compact")
    assert ids(agent.prompt("Connect to the staging database on its port")["context"]) == [fits]


def test_idle_talk_is_not_answered(agent: Agent) -> None:
    """A prompt about nothing that is remembered gets nothing."""
    agent.http.store("The staging database listens on port 6380")
    for prompt in ("thanks, looks good", "continue", "write a haiku about autumn", "!!!", "?"):
        assert agent.prompt(prompt)["context"] is None, prompt


def test_a_whole_session_leaves_the_next_one_wiser(agent: Agent) -> None:
    """Store, fail, fix, ask again, compact, resume, sub-agent, end; then rules, fix, checkpoint."""
    agent.http.store("Deploy with ./ship.sh", kind="devops")
    agent.start()
    agent.prompt("Make the importer run. Never commit without running the tests first.")
    agent.fails("npm test", "npm ERR! missing script: test")
    agent.works("pnpm test")
    agent.prompt("Now run the importer.")
    agent.fails("node import.js", "Error: connect ECONNREFUSED 127.0.0.1:5433")
    agent.prompt("still broken")
    agent.tell("pre_compact", reason="auto")
    agent.tell("post_compact", text="Summary of the work so far.")
    assert "Deploy with ./ship.sh" in agent.start("compact")["context"]
    assert "Deploy with ./ship.sh" in agent.start("resume")["context"]
    assert "Never commit" in agent.tell("subagent_start", agent="explorer")["context"]
    agent.tell("subagent_stop", text="looked around")
    agent.stops("The importer still fails.\n\nNext steps:\n- start postgres on 5433\n- rerun it\n")
    agent.ends()

    following = agent.session()
    context = following.start()["context"]
    assert "Deploy with ./ship.sh" in context
    assert "Never commit without running the tests first." in context
    assert "start postgres on 5433" in context
    assert "`node import.js` still fails" in context
    told = following.fails("npm test", "npm ERR! missing script: test")
    assert "What worked: `pnpm test`" in told["context"]


def test_nothing_is_said_where_saying_something_goes_wrong(agent: Agent) -> None:
    """Stops, ends, compactions and successes are never answered."""
    agent.http.store("Use tabs", kind="preference")
    quiet = ("stop", "subagent_stop", "session_end", "pre_compact", "post_compact", "tool_success")
    for kind in quiet:
        reply = agent.send(agent.event(kind, text="Use tabs"), reply=True).json
        told = (reply["context"], reply["deny"], reply["notice"])
        assert told == (None, None, None), kind


def test_a_checkpoint_is_saved_loaded_and_cleared(agent: Agent) -> None:
    """One is current, the ones before it are kept, and clearing puts all away."""
    assert agent.http.get("/v1/checkpoint").json == {"checkpoint": None, "history": []}
    assert agent.http.call("DELETE", "/v1/checkpoint").code == "not_found"
    for number in range(25):
        body = {"completed": "parser", "remaining": f"step {number}", "notes": "n"}
        assert agent.http.call("PUT", "/v1/checkpoint", body).status == 200
    found = agent.http.get("/v1/checkpoint?history=true").json
    assert found["checkpoint"]["remaining"] == "step 24"
    assert not found["checkpoint"]["automatic"]
    assert [one["remaining"] for one in found["history"]] == [f"step {n}" for n in range(23, 4, -1)]
    assert "Remaining: step 24" in agent.start()["context"]
    assert agent.http.call("DELETE", "/v1/checkpoint").json["result"] == "cleared"
    assert agent.http.get("/v1/checkpoint?history=true").json["checkpoint"] is None
    assert agent.session().start()["context"] is None


def test_the_end_of_a_session_never_replaces_a_checkpoint_saved_in_it(agent: Agent) -> None:
    """What was written by hand outranks what was read off; an older one makes way."""
    agent.start()
    agent.http.call("PUT", "/v1/checkpoint", {"remaining": "the hand-written rest"})
    agent.stops("Remaining: something else entirely")
    agent.ends()
    assert (
        agent.http.get("/v1/checkpoint").json["checkpoint"]["remaining"] == "the hand-written rest"
    )
    other = agent.session()
    other.start()
    other.stops("Next steps: rewrite the parser in C")
    other.ends()
    found = agent.http.get("/v1/checkpoint").json["checkpoint"]
    assert (found["automatic"], found["remaining"]) == (True, "Next steps: rewrite the parser in C")


def test_a_session_that_left_nothing_open_makes_no_checkpoint(agent: Agent) -> None:
    """There must be something to go on with."""
    agent.start()
    agent.prompt("Rename the variable")
    agent.stops("All done.")
    agent.ends()
    assert agent.http.get("/v1/checkpoint").json["checkpoint"] is None


def test_a_finished_job_is_not_shown_again(agent: Agent) -> None:
    """A session that was shown the checkpoint and left nothing open puts it away."""
    agent.start()
    agent.stops("Half done.\n\nNext steps:\n- port the lexer\n- update docs")
    agent.ends()
    idle = agent.session()
    assert "port the lexer" in idle.start()["context"]
    idle.ends()
    following = agent.session()
    assert "port the lexer" in following.start()["context"]
    following.prompt("go on")
    following.stops("The lexer is ported, the docs are updated. Nothing is left.")
    following.ends()
    assert agent.http.get("/v1/checkpoint").json["checkpoint"] is None
    assert agent.session().start()["context"] is None


def test_a_resumed_session_puts_its_own_checkpoint_away(agent: Agent) -> None:
    """What it left open at its first end it has done by the second."""
    agent.start()
    agent.stops("Next steps:\n- port the lexer")
    agent.ends()
    agent.start("resume")
    agent.stops("All done.")
    agent.ends()
    assert agent.http.get("/v1/checkpoint").json["checkpoint"] is None


def test_what_a_session_was_not_shown_or_a_person_wrote_stays(agent: Agent) -> None:
    """Done elsewhere says nothing about a checkpoint saved meanwhile, or one saved by hand."""
    parallel = agent.session()
    parallel.start()
    agent.start()
    agent.stops("Next steps:\n- port the lexer")
    agent.ends()
    parallel.stops("All done.")
    parallel.ends()
    assert "port the lexer" in agent.session().start()["context"]
    agent.http.call("PUT", "/v1/checkpoint", {"remaining": "the hand-written rest"})
    last = agent.session()
    last.start()
    last.stops("All done.")
    last.ends()
    found = agent.http.get("/v1/checkpoint").json["checkpoint"]
    assert found["remaining"] == "the hand-written rest"


def test_a_start_that_was_missed_is_made_up_for(agent: Agent) -> None:
    """A first start that found no daemon goes unanswered: the first prompt gets the rules."""
    rule = agent.http.store("Deploy with ./ship.sh", kind="devops")
    agent.http.call("PUT", "/v1/checkpoint", {"remaining": "port the lexer"})
    agent.send(agent.event("session_start", source="startup"), reply=False)
    context = agent.prompt("Rename the variable foo to bar")["context"]
    assert ids(context) == ["checkpoint", rule]
    assert agent.prompt("Rename the variable bar to foo")["context"] is None
    prompted = agent.session()
    assert ids(prompted.prompt("Rename the variable foo to bar")["context"]) == ["checkpoint", rule]


def test_a_start_that_was_answered_is_not_repeated(agent: Agent) -> None:
    """The first prompt of an ordinary session says nothing the start said already."""
    agent.http.store("Deploy with ./ship.sh", kind="devops")
    agent.start()
    assert agent.prompt("Rename the variable foo to bar")["context"] is None
