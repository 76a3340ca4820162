"""From failures to fixes, lessons and solutions, and back to the agent at the right moment."""

from __future__ import annotations

from tests.loop.agent import Agent, ids

MISSING = "npm ERR! missing script: test"
NO_CONFIG = "Error: pg_config executable not found."


def fail_and_fix(agent: Agent) -> None:
    """`npm test` fails, `pnpm test` works."""
    agent.fails("npm test", MISSING)
    agent.works("pnpm test", "12 passed")


def test_the_next_session_gets_the_fix_beside_the_error(agent: Agent) -> None:
    """A fix seen once is shown for exactly this failure, whatever folder and paging around it."""
    fail_and_fix(agent)
    told = agent.session().fails("cd /srv/app && npm test 2>&1 | tail -20", MISSING)
    assert "What worked: `pnpm test`" in told["context"]
    assert "Seen once." in told["context"]


def test_a_known_fix_is_told_once_a_session(agent: Agent) -> None:
    """The second time it is in the context already; after a compaction it is told again."""
    fail_and_fix(agent)
    other = agent.session()
    other.start()
    assert other.fails("npm test", MISSING)["context"]
    assert other.fails("npm test", MISSING)["context"] is None
    other.start("compact")
    assert other.fails("npm test", MISSING)["context"]


def test_another_error_of_the_same_command_is_not_explained(agent: Agent) -> None:
    """The fix of one failure is not offered for the next best."""
    fail_and_fix(agent)
    told = agent.session().fails("npm test", "TypeError: x is not a function")
    assert "pnpm" not in (told["context"] or "")


def test_evidence_adds_up_to_a_rule(agent: Agent) -> None:
    """Seen twice a lesson is promoted, and the rule names what fails and what works (defect 2)."""
    fail_and_fix(agent)
    assert agent.contents("failure") == []
    fail_and_fix(agent.session())
    (lesson,) = agent.lessons()
    assert (lesson["evidence"], lesson["status"]) == (2, "promoted")
    (rule,) = agent.contents("failure")
    assert rule == f"`npm test` fails here: {MISSING}\nWhat worked: `pnpm test`"
    assert rule in agent.rules()["text"].replace("\n| ", "\n")


def test_unrelated_failures_do_not_add_up(agent: Agent) -> None:
    """Two different troubles are two candidates, not one lesson with two proofs (defect 2)."""
    fail_and_fix(agent)
    agent.fails("git push", "fatal: The current branch x has no upstream branch.")
    agent.works("git push -u origin x")
    assert [lesson["evidence"] for lesson in agent.lessons()] == [1, 1]
    assert agent.contents("failure") == []


def test_what_was_run_in_between_is_the_fix(agent: Agent) -> None:
    """The same command works after a step: the step is named."""
    agent.fails("pytest", "ConnectionRefusedError: [Errno 111] 127.0.0.1:6380")
    agent.works("ls -la")
    agent.works("docker compose up -d redis")
    agent.works("pytest", "3 passed")
    (lesson,) = agent.lessons()
    assert lesson["fix"] == "docker compose up -d redis && pytest"


def test_what_worked_by_itself_teaches_nothing(agent: Agent) -> None:
    """A flaky command, one fixed by an edit, a smaller one and an unrelated one name no fix."""
    agent.fails("pytest", "TimeoutError: deadline exceeded")
    agent.works("pytest", "3 passed")
    agent.fails("pytest", "AssertionError: 1 != 2")
    agent.edits("/srv/app/models.py")
    agent.works("pytest", "3 passed")
    agent.fails("pytest", "ValueError: bad port")
    agent.works("pytest tests/test_small.py", "1 passed")
    agent.works("npm install")
    assert agent.lessons() == []


def test_two_ways_in_vain_then_success_is_a_solution(agent: Agent) -> None:
    """Hard-won knowledge is a rule at once, with the goal and what was tried."""
    agent.prompt("Install the postgres driver so that the importer runs")
    agent.fails("pip install psycopg2", NO_CONFIG)
    agent.fails("pip install psycopg2==2.8", NO_CONFIG)
    agent.works("apt-get install -y libpq-dev && pip install psycopg2")
    (solution,) = agent.memories("solution")
    assert (
        "What worked: `apt-get install -y libpq-dev && pip install psycopg2`" in solution["content"]
    )
    assert NO_CONFIG in solution["content"]
    assert "`pip install psycopg2`, `pip install psycopg2==2.8`" in solution["content"]
    assert solution["detail"] == "Goal: Install the postgres driver so that the importer runs"
    assert solution["id"] in ids(agent.session().start()["context"])


def test_the_same_attempt_twice_is_no_solution(agent: Agent) -> None:
    """Only distinct attempts count."""
    agent.fails("pip install psycopg2", NO_CONFIG)
    agent.fails("pip install psycopg2", NO_CONFIG)
    agent.works("apt-get install -y libpq-dev && pip install psycopg2")
    assert agent.contents("solution") == []
    assert len(agent.lessons()) == 1


def test_a_user_who_comes_back_makes_it_severe(agent: Agent) -> None:
    """A failure the user had to ask about again makes a rule the first time it is fixed."""
    agent.fails("npm test", MISSING)
    agent.prompt("It's still broken.")
    agent.works("pnpm test")
    (lesson,) = agent.lessons()
    assert (lesson["severe"], lesson["status"], lesson["evidence"]) == (True, "promoted", 1)
    assert agent.outcomes()["totals"]["reasks"] == 1


def test_a_fix_that_fails_itself_is_doubted(agent: Agent) -> None:
    """The fix met the error it was for: it is no longer offered."""
    fail_and_fix(agent)
    agent.fails("pnpm test", MISSING)
    (lesson,) = agent.lessons()
    assert lesson["confidence"] < 0.7
    assert agent.session().fails("npm test", MISSING)["context"] is None


def test_good_news_and_slips_are_no_failures(agent: Agent) -> None:
    """Defect 11: "0 errors found" is not kept, nor an answer by exit status, nor a user's stop."""
    agent.fails("eslint .", "0 errors found")
    agent.fails("grep -r needle src", "")
    agent.fails("which deno", "deno not found")
    agent.fails("npm run dev", "Error: interrupted", reason="interrupt")
    agent.fails("make 2>/dev/null", "make: *** missing target. Error 2")
    agent.tell(
        "tool_failure", tool="Edit", input='{"file_path":"/a"}', error="String to replace not found"
    )
    assert agent.outcomes()["totals"]["failures"] == 0


def test_success_is_read_from_what_hosts_send(agent: Agent) -> None:
    """Defect 7: a success has its output in tool_response; nothing else is asked for."""
    fail_and_fix(agent)
    seen = agent.outcomes()
    assert (seen["totals"]["successes"], seen["totals"]["tests_passed"]) == (1, 1)
    assert [one["fix"] for one in seen["outcomes"]] == [None, "pnpm test"]


def test_tool_calls_that_say_nothing_are_not_kept(agent: Agent) -> None:
    """Most successes concern no failure and leave no trace."""
    agent.works("ls -la")
    agent.edits("/srv/app/models.py")
    assert agent.outcomes()["outcomes"] == []


def test_a_stop_closes_an_episode(agent: Agent) -> None:
    """What happened since the last stop is summed up once."""
    agent.prompt("Make the tests green")
    fail_and_fix(agent)
    for _ in range(2):
        told = agent.stops()
        assert (told["context"], told["deny"], told["notice"]) == (None, None, None)
    (episode,) = agent.outcomes()["episodes"]
    assert (episode["outcome"], episode["goal"]) == ("succeeded", "Make the tests green")
    assert (episode["failures"], episode["fixes"], episode["tests_passed"]) == (1, 1, 1)


def test_every_kind_of_memory_is_shown_as_text(agent: Agent) -> None:
    """Defect 3: a failure is a sentence, not an object."""
    fail_and_fix(agent)
    fail_and_fix(agent.session())
    text = agent.rules()["text"]
    assert "[object" not in text
    assert '{"' not in text
    assert "Unknown" not in text
