"""What the user wants to hold from now on is kept, in the user's words."""

from __future__ import annotations

import pytest
from recalld.daemon.intake.capture import capture
from recalld.daemon.intake.reask import asks_again

from tests.loop.agent import Agent

LASTING = {
    "Never start the tests without docker compose up first": "correction",
    "use pnpm not npm in this repo": "preference",
    "No, use tabs instead of spaces.": "correction",
    "Always run the formatter before committing.": "preference",
    "From now on, write commit messages in English.": "preference",
    "Please always add a test.": "preference",
    "Don't use any in TypeScript, ever.": "correction",
    "no, don't use npm here": "correction",
    "We never push to main directly.": "correction",
    "In this project we deploy with ./ship.sh": "devops",
    "Remember that the staging database is on port 6380.": "project-knowledge",
    "I told you, never amend commits.": "correction",
    "You should never log tokens.": "correction",
    "Stop adding comments everywhere in this repo.": "correction",
    "Don't use npm, use pnpm.": "correction",
    "This repo uses pnpm, not npm.": "preference",
    "Stop using mocks.": "correction",
    "Do not push to main.": "correction",
    "You should not push to main.": "correction",
    "Tests should never hit the network.": "correction",
    "Make sure to always run ruff before committing.": "preference",
    "We don't use mocks in this repo.": "correction",
    "It is important that you never edit generated files.": "correction",
    "I said no emojis in code.": "correction",
    "Whenever you change the schema, regenerate the client.": "preference",
    "We always squash before merging.": "preference",
}
PASSING = [
    "Never mind, I'll do it.",
    "The test always fails on CI.",
    "It never works on Windows.",
    "Don't touch the tests yet.",
    "Why don't we use pnpm?",
    "Should we always run lint?",
    "Don't worry about it.",
    "fix the login bug",
    "If the build fails, never retry.",
    "> never quote me on that",
    "```\nalways in code, never outside\n```",
    "Please add a function that never returns None",
    "don't run it for now",
    "I never saw this error before.",
    "Whenever I run the tests I get a timeout.",
    "Every time I click save it crashes.",
    "In this project there is a bug in the parser.",
    "From now on the tests fail.",
    "I always get ECONNREFUSED on port 5432.",
    "I only see the error in production.",
    "We only have two days left for the release.",
    "Never had this issue before the upgrade.",
    "I never touched that file.",
    "We never merged that branch.",
    "No, use the other branch.",
    "Wrong, use the file in src/app.ts.",
    "Actually use port 8081.",
    "Remember when we fixed the login bug last week.",
    "Run it over again.",
]


@pytest.mark.parametrize("sentence", LASTING)
def test_a_lasting_wish_is_kept_word_for_word(sentence: str) -> None:
    """The sentence is taken whole, with its negation, and gets its kind."""
    (found,) = capture(f"I looked at the log. {sentence}\nNow fix the bug.")
    assert (found.sentence, found.kind) == (sentence, LASTING[sentence])


@pytest.mark.parametrize("prompt", PASSING)
def test_what_is_about_this_minute_is_not_kept(prompt: str) -> None:
    """Questions, conditions, reports, quotations and one-off instructions make no rule."""
    assert capture(prompt) == []


def test_users_who_come_back_are_noticed() -> None:
    """Only the beginning of a prompt counts, and only words about the last attempt."""
    for prompt in ("still broken", "it's still failing", "That didn't work.", "try again"):
        assert asks_again(prompt), prompt
    for prompt in ("it fails again", "doesn't work", "nope, same", "No change.", "same error"):
        assert asks_again(prompt), prompt
    for prompt in (
        "Now add a test",
        "Use the same approach",
        "Still, let us refactor it",
        "Make sure there is no change in behaviour.",
        "Do the same thing for the other file.",
        "Let's keep the same error message.",
        "Please try again with Python 3.12 tests.",
    ):
        assert not asks_again(prompt), prompt


def test_a_prompts_rule_is_stored_with_its_negation(agent: Agent) -> None:
    """Defect 1: "Never start …" came back as "start …"."""
    told = agent.prompt("Never start the tests without docker compose up first. Run them now.")
    assert agent.contents("correction") == [
        "Never start the tests without docker compose up first."
    ]
    assert "Never start the tests" in told["notice"]
    agent.session().prompt("Never start the tests without docker compose up first.")
    (memory,) = agent.memories("correction")
    assert memory["evidence"] == 2
    assert memory["source"] == {"agent": "claude-code", "session": agent.session_id}


def test_prompts_that_no_person_wrote_teach_nothing(agent: Agent) -> None:
    """Timers, programs and sub-agents give orders too; they are not the user's wishes."""
    agent.prompt("Always use the blue button.", source="system")
    agent.prompt("Always use the red button.", agent="explorer")
    assert agent.contents("preference") == []


def test_a_new_choice_retires_the_old_one(agent: Agent) -> None:
    """The override names what to ignore, and promoting the old one brings it back."""
    agent.prompt("use pnpm not npm in this repo")
    (old,) = agent.memories("preference")
    told = agent.prompt("Actually, use yarn instead of pnpm from now on.")
    assert f"[recalld:{old['id']}], which no longer holds" in told["context"]
    assert told["context"].count(f"[recalld:{old['id']}]") == 1
    assert "instead of: use pnpm" in told["notice"]
    (new,) = agent.memories("correction")
    assert new["supersedes"] == old["id"]
    assert agent.contents("preference") == []
    back = agent.http.call("POST", f"/v1/rules/{old['id']}/promote")
    assert (back.status, back.json["status"]) == (200, "active")
    assert agent.contents("preference") == ["use pnpm not npm in this repo"]
    assert agent.contents("correction") == []


def test_choices_of_other_things_stay(agent: Agent) -> None:
    """Another family, a mere prohibition and a choice for one place replace nothing."""
    agent.prompt("use pnpm not npm in this repo")
    agent.prompt("Always use tabs, never spaces.")
    agent.prompt("Never use yarn in this repo.")
    agent.prompt("Always use yarn in packages/legacy.")
    assert len(agent.contents("preference")) == 3
    assert len(agent.contents("correction")) == 1


def test_what_was_captured_is_found_by_other_words(agent: Agent) -> None:
    """Defect 4: one shared word is enough; defect 8: a limit above five has an effect."""
    agent.prompt("use pnpm not npm in this repo")
    assert (
        agent.http.recall("pnpm package manager")[0]["content"] == "use pnpm not npm in this repo"
    )
    for number in range(9):
        agent.http.store(f"package note number {number}")
    assert len(agent.http.recall("package", limit=8)) == 8
