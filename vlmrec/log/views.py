"""What the SQL views of a log say, column by column: the one place where they are described.

The views are part of the file (``views_1.sql``), so that any SQLite client can use them. The reference
page and the Datasette plugin draw on this table; a test holds it equal to the views as SQLite sees them.
"""

from collections.abc import Mapping
from typing import NamedTuple


class View(NamedTuple):
    """A view: what a row of it is, and what each column holds, in order."""

    row: str
    columns: Mapping[str, str]


_CLIP = {"clip": "The clip's id."}
_QUESTION = {
    "question_id": "The ledger's question; for table and scene calls, the task's name.",
    "party": "Whom it is about: self, other or none.",
}
_ANSWER = {
    "status": "observed, or an abstention: unknown, occluded, off_screen, not_applicable.",
    "value": "The domain code; null unless observed.",
}
_EVIDENCE = {
    "explanation": "The stated reason, as text.",
    "evidence_start": "Seconds of clip time.",
    "evidence_end": "Seconds of clip time.",
    "confidence": "As stated, 0 to 1.",
}
_PLACE = {
    "time": "When it was recorded, RFC 3339 in UTC.",
    "seq": "The event's place in the log.",
    "event": "The event's id.",
}
_BODIES = {
    "request": "SHA-256 of the request as sent, media replaced by their hashes; its body is in blobs.",
    "reply": "SHA-256 of the body as received; its body is in blobs.",
}

VIEWS: dict[str, View] = {
    "turns": View(
        "A question put for one party on one clip, with the answer that was accepted for it.",
        {
            **_CLIP,
            **_QUESTION,
            "stage": "What its calls are for: table, scene, predicate, monitor, map or probe.",
            "round": "The round of the clip in which it was opened; 0 is Stage 0, 1 the gates.",
            "put": "0 when nothing on screen can answer it: recorded as unknown, at no cost.",
            "text": "The question's text as shown.",
            "options": "The options as shown, as JSON.",
            "window": "The window family of the media shown.",
            "samples": "How many samples were asked for.",
            "usable": "How many could be read; null where no vote was held.",
            "tally": "Votes by answer, as JSON; null where no vote was held.",
            **_ANSWER,
            **_EVIDENCE,
            "violations": "How many validation rules did not hold; null where none was applied.",
            "opened": "When the turn was opened, RFC 3339 in UTC.",
            "accepted": "When its answer was accepted; null while there is none.",
            "seq": "The place of its turn.opened in the log.",
            "event": "The id of its turn.opened.",
        },
    ),
    "calls": View(
        "One send to a model: a call key and attempt, and what became of it.",
        {
            **_CLIP,
            "stage": "What the call is for: table, scene, predicate, monitor, map or probe.",
            **_QUESTION,
            "sample": "Which of the turn's samples, from 0; all when n came in one call.",
            "attempt": "Counts the sends under one call key, from 1.",
            "state": "completed, failed, or open: no end recorded yet.",
            "model": "The model asked for.",
            "served_model": "The model that the server says it used.",
            "endpoint": "Where it was sent.",
            "fingerprint": "Of everything that can change the reply.",
            "http_status": "The reply's status; null where there was none.",
            "finish_reasons": "Of each choice, as JSON.",
            "reason": "Why it failed, as a stable word.",
            "message": "Why it failed, in a sentence.",
            "in_doubt": "1 when it was sent and no response was recorded: it may have been billed.",
            "final": "1 when the key is not sent again, unless the clip is reopened.",
            "latency_s": "Seconds from sending to the end of the reply.",
            "prompt_tokens": "As the server counted them.",
            "completion_tokens": "As the server counted them.",
            "cached_tokens": "Prompt tokens that the server took from its cache.",
            "media_tokens": "Prompt tokens that were images or video.",
            "reasoning_tokens": "Completion tokens that were reasoning.",
            "reserved_cost": "Upper bound before sending, in USD, a decimal text; null when the price is unknown.",
            "cost": "In USD, a decimal text; of a failed call what was charged; null when unknown.",
            "cost_source": "provider, price or none.",
            **_BODIES,
            "requested": "When the request was recorded, before it left; RFC 3339 in UTC.",
            "ended": "When its end was recorded.",
            "seq": "The place of its call.requested in the log.",
            "event": "The id of its call.requested.",
        },
    ),
    "submissions": View(
        "The answers so far, sent to the engine, and its reply.",
        {
            **_CLIP,
            "round": "The round whose results were folded in before it.",
            "attempt": "Counts the tries of one submission, from 1.",
            "status": "confirmed, leading, asking, open, none or out_of_scope; null without a usable reply.",
            "stop_reason": "Why the engine asks nothing more.",
            "candidates": "How many candidates survive: charts, variants and assignments.",
            "charts": "The charts that survive, each once, separated by blanks.",
            "eliminated": "How many are eliminated, with the answer that did it in the event.",
            "next_question_id": "The question that the engine asks next; null when it asks none.",
            "next_party": "Whom that question is about.",
            "http_status": "The reply's status; null without HTTP or without a reply.",
            "error": "Why there is no usable reply.",
            "final": "1 when a failed submission is not tried again.",
            "engine_version": "As the reply says.",
            "data_version": "Of the ledger, as the reply says.",
            **_BODIES,
            **_PLACE,
        },
    ),
    "answers": View(
        "An answer as accepted, after vote and validation: what the engine gets.",
        {
            **_CLIP,
            **_QUESTION,
            **_ANSWER,
            "source": "model, not_observable, or given (taken over from elsewhere).",
            **_EVIDENCE,
            "demoted_from": "The value that a contradiction demoted to an abstention.",
            "demoted_by": "The rule that demoted it.",
            "mapping": "Of a given answer: kept, or approximate by a rule.",
            "mapping_rule": "The migration rule behind an approximate answer.",
            "given_by": "Of a given answer: log, gold or import.",
            "given_event": "Of an answer given by a log: the event's id there.",
            **_PLACE,
        },
    ),
    "validations": View(
        "A validation rule that was applied to an answer or an entity table.",
        {
            **_CLIP,
            "question_id": "The question whose answer was checked; null for an entity table.",
            "party": "Whom it is about; null for an entity table.",
            "rule": "The rule's name.",
            "held": "1 when the rule held.",
            "action": "flag or demote, where it did not hold.",
            "message": "What did not hold.",
            "against_question_id": "The other answer of a contradiction.",
            "against_party": "Whom that answer is about.",
            **_PLACE,
        },
    ),
    "outcomes": View(
        "How a clip ended; of several ends the last.",
        {
            **_CLIP,
            "outcome": "confirmed, leading, open, none, out_of_scope, or failed.",
            "incomplete": "1 when the path met an answer that could not be had.",
            "stop_reason": "Why the engine asked nothing more.",
            "candidates": "How many candidates survived.",
            "charts": "The charts that survived, each once, separated by blanks.",
            "fault_self": "The first candidate's share for the recording vehicle, in percent.",
            "rounds": "How many rounds it took.",
            "truncated": "1 when the clip had decoded only in part.",
            "cause": "Of a failed clip: media, call or engine.",
            "reason": "Of a failed clip: why.",
            "retryable": "Of a failed clip: 1 when another try could go well.",
            "reopened": "1 when the clip was taken up again after this end.",
            "excluded": "The note that says why clip or run is not to be counted; null when it is.",
            **_PLACE,
        },
    ),
}
