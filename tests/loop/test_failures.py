"""From failures to fixes, lessons and solutions, and back to the agent at the right moment."""

from __future__ import annotations

from tests.daemon.started import Started
from tests.harness import vectors
from tests.harness.waiting import eventually
from tests.loop.agent import Agent, ids

MISSING = "npm ERR! missing script: test"
NO_CONFIG = "Error: pg_config executable not found."

# What fails, and how; and other errors that the same twenty commands may meet.
FOREIGN = [
    ("git commit", "error: lint failed: 3 problems"),
    ("cargo build", "error: linker cc not found"),
    ("npm run build", "error TS2307: Cannot find module x"),
    ("pip install psycopg2", NO_CONFIG),
    ("docker compose up", "Error: network backend not found"),
    ("make lint", "make: *** No rule to make target lint"),
    ("npm publish", "npm ERR! need auth This command requires you to be logged in"),
    ("cargo test", "error: no bin target named server"),
    ("go build", "error: missing go.sum entry for module"),
    ("git rebase main", "error: cannot rebase: You have unstaged changes."),
    ("terraform apply", "Error: missing provider configuration"),
    ("helm upgrade web", "Error: another operation is in progress, release locked"),
    ("kubectl apply", "error: no context exists with the name staging"),
    ("poetry install", "Error: lock file is not compatible with pyproject.toml"),
    ("yarn install", "error: engine node is incompatible with this module"),
    ("bundle install", "Error: could not find gem rails in locally installed gems"),
    ("dotnet build", "error MSB1003: the folder must be a project or solution file"),
    ("gradle build", "error: Could not determine java version"),
    ("mvn package", "[ERROR] Failed to execute goal: release version not supported"),
    ("alembic upgrade", "FAILED: Multiple head revisions are present"),
]
STRANGE = [
    "error: gpg failed to sign the data",
    "error: could not compile parser due to 2 previous errors",
    "error: ENOSPC no space left on device",
    "ERROR: 403 Client Error Forbidden for url",
    "Error: port 5432 already in use",
    "error: foo.c:3: undefined reference to bar",
    "npm ERR! 403 Forbidden",
    "error: test failed, to rerun pass --lib",
    "error: undefined: parser.New",
    "error: could not apply 3f2; resolve conflicts",
    "Error: quota exceeded for instances",
    "Error: chart values invalid: replicas must be a number",
    "error: unable to connect to the server: certificate has expired",
    "Error: package hash mismatch for urllib3",
    "error: request to registry timed out",
    "Error: extension nokogiri failed to compile",
    "error CS0103: the name foo does not exist",
    "error: execution failed for task compileKotlin",
    "[ERROR] there are test failures",
    "FAILED: relation users already exists",
]


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


def test_a_solution_found_again_is_one_solution(agent: Agent) -> None:
    """Other attempts and another goal, but the same way out of the same trouble: more evidence."""
    working = "apt-get install -y libpq-dev && pip install psycopg2"
    for session, versions in ((agent, ("", "==2.8")), (agent.session(), ("==2.7", "==2.9"))):
        session.prompt(f"Install the driver, as {session.session_id} needs it")
        for version in versions:
            session.fails(f"pip install psycopg2{version}", NO_CONFIG)
        session.works(working)
    (solution,) = agent.memories("solution")
    assert solution["evidence"] == 2


def test_lessons_in_other_words_fold_together(agent: Agent) -> None:
    """Times, paths and a word of the error differ: one lesson, seen twice."""
    agent.fails("make image", "Error: no space left on device /dev/sda1 at 2026-01-01 10:00:00")
    agent.works("docker system prune && make image")
    other = agent.session()
    other.fails(
        "make image", "Error: there is no space left on device /mnt/b at 2026-02-02 11:11:11"
    )
    other.works("docker system prune && make image")
    assert [lesson["evidence"] for lesson in agent.lessons()] == [2]


def test_lessons_about_different_things_do_not(agent: Agent) -> None:
    """Two missing modules, each installed, are two lessons, however alike their errors read."""
    for module in ("vitest", "react"):
        agent.fails("npm test", f"Error: Cannot find module '{module}'")
        agent.works(f"npm install {module} && npm test")
    assert [lesson["evidence"] for lesson in agent.lessons()] == [1, 1]
    assert agent.contents("failure") == []


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


def test_the_old_way_failing_again_is_no_doubt(agent: Agent) -> None:
    """Where the fix is an option of the same command, failing without it confirms the lesson."""
    agent.fails("flux up", "Error: the flux is full")
    agent.works("flux up --drain")
    agent.fails("flux up", "Error: the flux is full")
    assert [lesson["confidence"] for lesson in agent.lessons()] == [0.8]
    assert "--drain" in agent.session().fails("flux up", "Error: the flux is full")["context"]


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


def test_a_user_who_comes_back_takes_the_false_fix_back(agent: Agent) -> None:
    """After "still broken" what seemed fixed since the last prompt waits again, doubted."""
    agent.prompt("Make the build work")
    agent.fails("npm run build", "error TS2307: Cannot find module x")
    agent.works("npm run build -- --fast", "ok")
    agent.stops("Done.")
    agent.prompt("It is still broken, same error.")
    (lesson,) = agent.lessons()
    assert lesson["confidence"] < 0.7
    failure = next(one for one in agent.outcomes()["outcomes"] if one["kind"] == "failure")
    assert (failure["pending"], failure["fix"]) == (True, None)
    told = agent.session().fails("npm run build", "error TS2307: Cannot find module x")
    assert told["context"] is None


def test_a_doubted_fix_regains_trust_slowly(agent: Agent) -> None:
    """The false fix working once more makes no rule, though the user came back about it."""
    agent.fails("npm run build", "error TS2307: Cannot find module x")
    agent.works("npm run build -- --fast", "ok")
    agent.prompt("It is still broken, same error.")
    agent.works("npm run build -- --fast", "ok")
    (lesson,) = agent.lessons()
    assert (lesson["status"], lesson["confidence"] < 0.7) == ("candidate", True)


def test_the_true_fix_is_learned_beside_the_doubted_one(agent: Agent) -> None:
    """What works after the user came back is a lesson of its own, and severe: the failure was
    marked.
    """
    agent.fails("npm run build", "error TS2307: Cannot find module x")
    agent.works("npm run build -- --fast", "ok")
    agent.prompt("It is still broken, same error.")
    agent.works("npm run build -- --project tsconfig.app.json", "ok")
    found = {lesson["fix"]: lesson["status"] for lesson in agent.lessons()}
    assert found == {
        "npm run build -- --fast": "candidate",
        "npm run build -- --project tsconfig.app.json": "promoted",
    }


def test_a_user_who_comes_back_takes_rules_and_solutions_back(agent: Agent) -> None:
    """A promoted rule and a solution of the false fix are put away, not removed."""
    fail_and_fix(agent.session())
    fail_and_fix(agent)
    assert len(agent.contents("failure")) == 1
    agent.fails("pip install psycopg2", NO_CONFIG)
    agent.fails("pip install psycopg2==2.8", NO_CONFIG)
    agent.works("apt-get install -y libpq-dev && pip install psycopg2")
    assert len(agent.contents("solution")) == 1
    agent.prompt("Still not working.")
    assert (agent.contents("failure"), agent.contents("solution")) == ([], [])
    assert len(agent.memories("failure", "archived")) == 1
    assert len(agent.memories("solution", "archived")) == 1


def test_only_what_was_fixed_since_the_last_prompt_is_taken_back(agent: Agent) -> None:
    """What the user has gone on from stays fixed."""
    fail_and_fix(agent)
    agent.stops()
    agent.prompt("Good. Now write the changelog please")
    agent.prompt("It is still broken.")
    (lesson,) = agent.lessons()
    assert lesson["confidence"] >= 0.7


GEMINI = (
    "Command: {command}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: 1\n"
    "Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4711"
)


def test_a_host_that_labels_its_output_tells_the_same_failure(agent: Agent) -> None:
    """Gemini's own frame around an error is not the error: two differ, and equal Claude's."""
    for command, output in (("npm test", MISSING), ("npm run lint", "sh: eslint: not found")):
        text = GEMINI.format(command=command, output=output)
        told = f'{{"command": "{command}"}}'
        agent.tell("tool_failure", tool="run_shell_command", input=told, error=text)
    agent.fails("npm test", MISSING)
    agent.tell(
        "tool_failure", tool="shell", input='{"command": "npm test"}',
        error=f"Exit code: 1\nWall time: 0.1 seconds\nOutput:\n{MISSING}",
    )  # fmt: skip
    codex, claude, lint, gemini = [one["error"] for one in agent.outcomes()["outcomes"]]
    assert gemini == claude == codex == MISSING
    assert lint == "sh: eslint: not found"


def test_unrelated_failures_are_told_nothing(served: Started, agent: Agent) -> None:
    """Twenty lessons and solutions beside twenty foreign errors, of like commands too: silence."""
    for number, (command, error) in enumerate(FOREIGN):
        other = f"{command} --with-x{number}"
        for one in (agent, agent.session()):
            one.fails(command, error)
            if number % 2:
                one.fails(f"{command} -v", error)
            one.works(other)
    owner = served.owner()
    eventually(lambda: vectors.written(owner))
    fresh = agent.session()
    for (command, _), error in zip(FOREIGN, STRANGE, strict=True):
        assert fresh.fails(command, error)["context"] is None, (command, error)


def test_a_failure_written_by_hand_is_shown_for_its_own_command(
    served: Started, agent: Agent
) -> None:
    """Reading alike is not enough for a failure: the command or the error must be the same."""
    agent.http.store("cargo build fails: linker cc not found. Install gcc first.", kind="failure")
    owner = served.owner()
    eventually(lambda: vectors.written(owner))
    told = agent.session().fails("cargo build", "error: linker `cc` not found")
    assert "Install gcc" in (told["context"] or "")
    told = agent.session().fails("go build", "error: cargo package not found for the go linker")
    assert told["context"] is None


def test_a_fix_that_could_not_be_told_comes_with_the_next_prompt(agent: Agent) -> None:
    """Kiro takes nothing after a tool call: the prompt that follows has the fix, once."""
    fail_and_fix(agent)
    kiro = Agent(agent.http, "kiro")
    event = kiro.event(
        "tool_failure", tool="execute_bash", input='{"command": "npm test"}', error=MISSING
    )
    kiro.send(event, reply=False)
    told = kiro.prompt("Go on with the header")
    assert "What worked: `pnpm test`" in told["context"]
    assert kiro.prompt("Go on with the footer")["context"] is None


def test_a_fix_that_could_not_be_told_comes_with_the_next_success(agent: Agent) -> None:
    """Cursor takes context after a success: the fix comes there, but not with the fix itself."""
    fail_and_fix(agent)
    for command, told in (("ls -la", True), ("pnpm test", False)):
        cursor = Agent(agent.http, "cursor")
        failed = cursor.event(
            "tool_failure", tool="Shell", input='{"command": "npm test"}', error=MISSING
        )
        cursor.send(failed, reply=False)
        worked = cursor.event("tool_success", tool="Shell", input=f'{{"command": "{command}"}}')
        context = cursor.send(worked).json["context"]
        assert ("What worked: `pnpm test`" in (context or "")) is told
        again = cursor.event("tool_success", tool="Shell", input='{"command": "ls"}')
        assert cursor.send(again).json["context"] is None
