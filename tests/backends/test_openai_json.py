"""Replies in JSON where a server has JSON schemas: chats with demonstrations as turns, and text everywhere else."""

from __future__ import annotations

import json
import math

import pytest

from app.backends.llm.openai_client import Sampling
from app.config.settings import Settings
from app.container.container import Container
from app.domain.instrumentation import use_stores
from app.domain.model import HopStatus, Label, LabelSet, Question, RunOptions
from app.domain.ports import Ask, Decide
from app.modules.prompted import PromptedClaimVerifier, PromptedQuestioner, PromptedReasoner, sufficiency_prompts
from app.modules.prompting import EXAMPLE_DELIMITERS
from app.modules.pursuit import PromptedParaphraser, PromptedPursuer
from tests.backends.openai_asking import chat, run_over
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, IN_VAIN
from tests.one_claim import followed
from tests.openai_server import OpenAIServer, Reply, play, play_in_json
from tests.stores import JsonStore

MAX_TOKENS_OF_TWO_HOPS = 4_500


def tokens_of(server: OpenAIServer, script) -> int:
    """Return the tokens of all messages and replies, as the estimate of an evaluation counts them."""
    read = sum(len(message["content"]) for asked in server.asked for message in asked.body["messages"])
    return (read + sum(len(script(asked).text) for asked in server.asked)) // 4


def reply_of(**values) -> Reply:
    return Reply(json.dumps(values))


def test_a_claim_of_two_hops_takes_at_most_4500_tokens_in_json_and_twice_as_many_in_text():
    used = {}
    for script, has_json_schema in ((play_in_json(), True), (play(), False)):
        with OpenAIServer(script, has_json_schema) as server:
            report, _ = run_over(chat(server))
        assert [hop.status for hop in report.hops] == [HopStatus.KEPT] * 2 and len(server.asked) == 11
        assert report.verdict.label is Label.SUPPORTED
        assert [sentence.hops for sentence in report.verdict.rationale] == [(1,), (2,)]
        used[has_json_schema] = tokens_of(server, script)
    assert used[True] <= MAX_TOKENS_OF_TWO_HOPS < used[False] / 2, used


def test_a_request_in_json_has_an_instruction_turns_and_a_schema():
    with OpenAIServer([reply_of(enough="Yes")], has_json_schema=True) as server:
        assert PromptedClaimVerifier(chat(server)).is_sufficient(CLAIM, (AUTHOR, BIRTH)).holds
    (asked,) = server.asked
    roles = [message["role"] for message in asked.body["messages"]]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]
    assert [json.loads(each["content"])["enough"] for each in asked.body["messages"][2::2]].count("Yes") == 2
    schema = asked.body["response_format"]["json_schema"]
    assert schema["strict"] and schema["schema"]["properties"]["enough"]["enum"] == ["Yes", "No"]


def test_demonstrations_quote_answers_as_the_case_does():
    prompt = sufficiency_prompts(CLAIM, (AUTHOR,))[1]
    assert EXAMPLE_DELIMITERS("Günter Grass") in prompt.shown[0][0] and "[data example]" not in prompt.case
    assert "never as an instruction" in prompt.case and "] Jane Austen [end " in prompt.case


def test_a_server_without_schemas_is_asked_once_for_json_and_then_in_text():
    with OpenAIServer(play()) as server:
        model = chat(server)
        report, _ = run_over(model)
        run_over(model.sampled(Sampling(seed=2)))
    assert report.verdict and len(server.refused) == 1 and not any(asked.schema for asked in server.asked)


@pytest.mark.parametrize("first", [Reply("Who wrote Emma?"), reply_of(text="Who wrote Emma?"), Reply("[1]")])
def test_a_server_that_ignores_schemas_is_asked_once_for_json_and_then_in_text(first):
    with OpenAIServer([first, Reply("Who wrote Emma?")], has_json_schema=True) as server:
        model = chat(server)
        for _ in range(2):
            assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    assert [asked.schema for asked in server.asked] == ["question", "", ""]


@pytest.mark.parametrize("said", ["Perhaps", "true or false", 2, None, ["Yes", "No"], {"a": "Yes", "b": "No"}])
def test_a_choice_that_is_no_option_is_asked_for_in_text(said):
    with OpenAIServer([reply_of(enough=said), Reply("No")], has_json_schema=True) as server:
        assert not PromptedClaimVerifier(chat(server)).is_sufficient(CLAIM, (AUTHOR,)).holds
    assert [asked.schema for asked in server.asked] == ["enough", ""]


def test_the_probability_of_a_choice_is_that_of_its_value():
    def token(text: str, **alternatives: float) -> dict:
        top = [{"token": each, "logprob": math.log(share)} for each, share in (alternatives or {text: 1.0}).items()]
        return {"token": text, "logprob": top[0]["logprob"], "top_logprobs": top}

    content = [token('{"'), token("enough"), token('":'), token(' "'), token("No", No=0.6, Yes=0.2), token('"}')]
    message = {"content": '{"enough": "No"}'}
    body = {"choices": [{"message": message, "finish_reason": "stop", "logprobs": {"content": content}}]}
    with OpenAIServer([Reply(body=body)], has_json_schema=True) as server:
        judgement = PromptedClaimVerifier(chat(server)).is_sufficient(CLAIM, (AUTHOR,))
    assert not judgement.holds and judgement.confidence == pytest.approx(0.75)


@pytest.mark.parametrize("cut", ['{"question": "Who wro', '{"question":' + " " * 80])
def test_a_json_reply_that_was_cut_off_is_asked_for_in_text_once_and_not_stored(cut):
    store = JsonStore()
    replies = [Reply(cut, finish="length"), Reply("Who wrote Emma?"), reply_of(question="Where was she born?")]
    with OpenAIServer(replies, has_json_schema=True) as server, use_stores(store):
        questioner = PromptedQuestioner(chat(server))
        assert questioner.next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
        assert questioner.next_question(CLAIM, (AUTHOR,), ()) == Question("Where was she born?")
    assert [asked.schema for asked in server.asked] == ["question", "", "question"] and len(store.replies) == 2


def test_a_json_reply_without_a_question_is_asked_for_in_other_words_and_not_stored():
    store = JsonStore()
    replies = [reply_of(question="Jane Austen"), reply_of(question="Who wrote Emma?")]
    with OpenAIServer(replies, has_json_schema=True) as server, use_stores(store):
        assert PromptedQuestioner(chat(server)).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    assert [asked.schema for asked in server.asked] == ["question", "question"] and len(store.replies) == 1


def test_label_rationale_and_missing_evidence_come_from_the_json():
    reply = reply_of(rationale="Emma is true to life [1].", missing="Where she died.", label="not enough evidence")
    with OpenAIServer([reply], has_json_schema=True) as server:
        verdict = PromptedReasoner(chat(server)).conclude(CLAIM, (AUTHOR, BIRTH), LabelSet.THREE.labels)
    assert (verdict.label, verdict.missing) == (Label.NOT_ENOUGH_EVIDENCE, "Where she died.")
    assert [(each.text, each.hops) for each in verdict.rationale] == [("Emma is true to life.", (1,))]
    enum = server.asked[0].body["response_format"]["json_schema"]["schema"]["properties"]["label"]["enum"]
    assert enum == ["true", "false", "not enough evidence"]


def test_the_papers_prompts_are_sent_as_text(tmp_path):
    with OpenAIServer(play(), has_json_schema=True) as server:
        env = {"INSTANCE": str(tmp_path), "OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted"}
        options = RunOptions(preset="qacheck", answerer="reciter-reader", model="scripted", labels=LabelSet.TWO)
        report, _ = followed(Container(Settings.from_env(env)).strategy_for(options), options)
    assert report.ended and len(server.asked) > 2 and not any(asked.schema for asked in server.asked)


@pytest.mark.parametrize("said", ["false", "False", 0, "0", [False], {"value": "No"}])
def test_a_choice_may_be_any_value_that_means_no(said):
    with OpenAIServer([reply_of(enough=said)], has_json_schema=True) as server:
        assert not PromptedClaimVerifier(chat(server)).is_sufficient(CLAIM, (AUTHOR,)).holds
    assert len(server.asked) == 1


def test_lists_and_other_values_in_place_of_texts_are_read():
    replies = [
        reply_of(Rationale=["True to life [1].", "Not dated [2]."], missing=["The date."], LABEL="not enough evidence"),
        reply_of(rationale="True to life [1].", missing="null", label=[True]),
        reply_of(question={"text": "Who wrote Emma?"}),
    ]
    with OpenAIServer(replies, has_json_schema=True) as server:
        model, labels = chat(server), LabelSet.THREE.labels
        unclear, clear = (PromptedReasoner(model).conclude(CLAIM, (AUTHOR, BIRTH), labels) for _ in range(2))
        assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    assert [each.text for each in unclear.rationale] == ["True to life.", "Not dated."]
    assert (unclear.missing, clear.label, clear.missing) == ("The date.", Label.SUPPORTED, None)
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("reply", "step"),
    [
        ({"decision": "true", "question": None}, Decide(True)),
        ({"decision": "false", "question": "Who?"}, Decide(False)),
        ({"decision": True, "question": "null"}, Decide(True)),
        ({"decision": "null", "question": ["Where was she born?"]}, Ask(Question("Where was she born?"))),
        ({"decision": None, "question": "Where was Jane Austen born?"}, Ask(Question("Where was Jane Austen born?"))),
    ],
)
def test_the_next_step_of_a_pursuit_comes_as_json(reply, step):
    with OpenAIServer([reply_of(**reply)], has_json_schema=True) as server:
        assert PromptedPursuer(chat(server)).next_step(CLAIM, (AUTHOR,), (IN_VAIN,)) == step
    (asked,) = server.asked
    assert asked.schema == "step" and "- When was Emma filmed?" in asked.prompt and "] Jane Austen [end" in asked.prompt


def test_a_question_counts_and_not_the_decision_beside_it_while_nothing_was_answered():
    with OpenAIServer([reply_of(decision="false", question="Who wrote Emma?")], has_json_schema=True) as server:
        step = PromptedPursuer(chat(server)).next_step(CLAIM, (), (IN_VAIN,))
    assert step == Ask(Question("Who wrote Emma?"))


def test_questions_and_other_wordings_of_a_pursuit_come_as_json():
    encoded = '["Who wrote Emma?", "When?"]'
    replies = [reply_of(questions=encoded), reply_of(questions=["Who is the author of Emma?"])]
    with OpenAIServer(replies, has_json_schema=True) as server:
        model, who = chat(server), Question("Who wrote Emma?")
        assert PromptedPursuer(model).first_questions(CLAIM, 5) == (who, Question("When?"))
        assert PromptedParaphraser(model).paraphrase(CLAIM, who, 3) == (Question("Who is the author of Emma?"),)
    assert [asked.schema for asked in server.asked] == ["questions", "wordings"]


def test_a_step_in_json_without_decision_or_question_is_asked_for_in_text():
    replies = [reply_of(decision=None, question=None), Reply("[[True]]")]
    with OpenAIServer(replies, has_json_schema=True) as server:
        assert PromptedPursuer(chat(server)).next_step(CLAIM, (AUTHOR,), ()) == Decide(True)
    assert [asked.schema for asked in server.asked] == ["step", ""]
