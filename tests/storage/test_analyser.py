"""From text to index words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.storage import analyser


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plain words, twice: words.", "plain words twice words"),
        ("getUserName()", "getusername get user name"),
        ("snake_case_name", "snakecasename snake case name"),
        ("parseXMLDocument", "parsexmldocument parse xml document"),
        ("HTTPServerError", "httpservererror http server error"),
        ("TS2345", "ts2345 ts 2345"),
        ("v1.2.3", "v1 v 1 2 3 v123"),
        ("src/app/main.py", "src app main py srcappmainpy"),
        ("multi-agent", "multi agent multiagent"),
        ("ERR_CONNECTION_REFUSED", "errconnectionrefused err connection refused"),
        ("don't", "don t"),
        ("don’t", "don t"),
        ("Naïve café résumé", "naive cafe resume"),
        ("ｆｕｌｌ ｗｉｄｔｈ ﬁne", "full width fine"),
        ("数据库", "数据 据库"),
        ("前端TypeScript", "前端 typescript type script"),
        ("水", "水"),
        ("トークン", "トー ーク クン"),
        ("캐시를", "캐시 시를"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("Ёлка", "елка"),
        ("🚀🚀 #release", "🚀 🚀 release"),
        ("", ""),
    ],
)
def test_words_of(text: str, words: str) -> None:
    """Identifiers whole and by part, pairs for scripts without blanks, accents off."""
    assert analyser.index_text(text) == words


@given(st.text())
def test_words_are_clean(text: str) -> None:
    """No word is empty or holds blanks, quotes, control or private-use letters."""
    for word in analyser.tokens(text):
        assert word
        assert not any(char.isspace() or char in '"\0*^(){}:' for char in word)
        assert not any("\ue000" <= char <= "\uf8ff" for char in word)


@given(st.text())
def test_analysis_is_stable(text: str) -> None:
    """Capitals apart, the same letters in another normal form give the same words."""
    import unicodedata

    composed = unicodedata.normalize("NFC", text)
    assert analyser.tokens(composed) == analyser.tokens(unicodedata.normalize("NFD", text))


@given(st.text(alphabet="数据库連接池テスト캐시", min_size=2), st.text(), st.text())
def test_a_part_of_a_dense_run_is_found(part: str, before: str, after: str) -> None:
    """Two or more letters out of a run without blanks are among the words of the whole."""
    whole = analyser.tokens(f"{before}{part}{after}")
    assert set(analyser.tokens(part)) <= set(whole)


@given(st.from_regex(r"[a-z]{2,8}([A-Z][a-z]{1,8}){1,3}", fullmatch=True))
def test_an_identifier_is_found_by_part_and_whole(name: str) -> None:
    """A camel-case name gives itself, and each of its parts."""
    words = analyser.tokens(name)
    assert words[0] == name.lower()
    assert "".join(words[1:]) == name.lower()


@given(st.text(st.characters(max_codepoint=127)) | st.text("aB1_-./:\\ '"))
def test_plain_text_is_read_like_any_other(text: str) -> None:
    """The short way for ASCII finds the words that the long one finds."""
    assert analyser.tokens(text) == analyser.tokens(f"{text} \N{SECTION SIGN}")
