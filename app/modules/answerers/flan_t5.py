"""The FLAN-T5 answerer: answer and evidence, both from the model's own knowledge (QACheck, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.instrumentation import report_phase
from app.domain.messages import Code, Words
from app.domain.model import Answer, Claim, Context, Question
from app.domain.ports import TextGenerator
from app.modules.answerers import AnswererKind
from app.modules.answerers.reciter_reader import cite_in, recited_passage
from app.modules.output_parsing import answer_from, passage_from
from app.modules.prompting import fill_template, one_line

NAME = "flan-t5"
MAX_ANSWER_TOKENS, MAX_EVIDENCE_TOKENS = 32, 128
MAX_EVIDENCE_WORDS = 100


@dataclass(frozen=True)
class FlanT5Answerer:
    """Implements `QuestionAnswerer` with two calls of a sequence-to-sequence model, without demonstrations."""

    seq2seq: TextGenerator

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        """Return the model's answer, citing the evidence that it generates, or else the answer itself."""
        asked = one_line(question.text)
        report_phase(Code.ASKING_MODEL(model=self.seq2seq.name))
        found = answer_from(
            self.seq2seq.complete(fill_template("flan_t5_answer", question=asked), max_tokens=MAX_ANSWER_TOKENS)
        )
        if found is None:
            return Answer(None, answerer=NAME)
        report_phase(Code.ASKING_FOR_EVIDENCE(model=self.seq2seq.name))
        prompt = fill_template("flan_t5_evidence", question=asked, answer=found)
        evidence = passage_from(self.seq2seq.complete(prompt, max_tokens=MAX_EVIDENCE_TOKENS), MAX_EVIDENCE_WORDS)
        return cite_in(recited_passage(evidence or found, self.seq2seq.name), found, question, NAME)


KIND = AnswererKind(
    title=Words("FLAN-T5: answers from its own memory"),
    needs=("flan-t5",),
    describe=lambda options, settings: f"FLAN-T5's memory: {settings.flan_t5}",
    build=lambda parts: FlanT5Answerer(parts.seq2seq),
)
