"""Canned queries over a run log and over the catalog, for Datasette and for anyone with an SQLite client. Pure data."""

from typing import NamedTuple


class Query(NamedTuple):
    """A query with named parameters, and what it answers."""

    title: str
    description: str
    sql: str


ELIMINATIONS = """
SELECT e.subject AS clip, json_extract(e.data, '$.round') AS round,
  json_extract(one.value, '$.chart') AS chart, json_extract(one.value, '$.variant') AS variant,
  json_extract(one.value, '$.self_is') AS self_is,
  json_extract(one.value, '$.by.question_id') AS question_id, json_extract(one.value, '$.by.party') AS party,
  json_extract(one.value, '$.by.value') AS value, e.id AS event
FROM events AS e, json_each(e.data, '$.eliminated') AS one
WHERE e.type = 'engine.submitted'
""".strip()

RUN_QUERIES: dict[str, Query] = {
    "turns_of_a_clip": Query(
        "Turns of a clip",
        "Every question put on one clip, in order, with the answer that was accepted.",
        "SELECT clip, round, question_id, party, text, status, value, explanation, evidence_start, evidence_end,\n"
        "  violations, event FROM turns WHERE clip = :clip ORDER BY round, seq",
    ),
    "what_eliminated_a_chart": Query(
        "What eliminated a chart",
        "When a chart, such as the labelled one, was ruled out on each clip, and by which answer. Leave the clip empty for all.",
        "SELECT clip, min(round) AS round, chart, self_is, question_id, party, value, event\n"
        f"FROM (\n{ELIMINATIONS}\n)\nWHERE chart = :chart AND (:clip = '' OR clip = :clip)\n"
        "GROUP BY clip, chart, self_is ORDER BY clip, round",
    ),
    "which_answers_eliminate": Query(
        "Which answers eliminate most",
        "Answers by how many charts they ruled out, counting each chart and assignment of a clip once.",
        "SELECT question_id, party, value, count(*) AS eliminated, count(DISTINCT clip) AS clips FROM (\n"
        f"  SELECT clip, chart, self_is, variant, question_id, party, value, min(round) FROM (\n{ELIMINATIONS}\n  )\n"
        "  GROUP BY clip, chart, self_is, variant)\nGROUP BY question_id, party, value ORDER BY eliminated DESC",
    ),
    "cost_by_model": Query(
        "Cost by model",
        "Calls, tokens and cost of each model. Costs that nobody stated are counted apart, never as 0.",
        "SELECT model, count(*) AS calls, sum(state = 'completed') AS completed, sum(state = 'failed') AS failed,\n"
        "  sum(in_doubt) AS in_doubt, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,\n"
        "  sum(cached_tokens) AS cached_tokens, round(sum(CAST(cost AS REAL)), 6) AS cost_usd,\n"
        "  sum(cost IS NULL) AS cost_unknown, round(avg(latency_s), 3) AS mean_latency_s\n"
        "FROM calls GROUP BY model ORDER BY model",
    ),
    "contradictions": Query(
        "Contradictions",
        "Answers that contradict an earlier one of the same clip, by the rule that found it.",
        "SELECT clip, rule, action, question_id, party, against_question_id, against_party, message, event\n"
        "FROM validations WHERE NOT held AND against_question_id IS NOT NULL ORDER BY clip, seq",
    ),
    "abstentions": Query(
        "Abstentions by question",
        "How often each question was answered with a value, and how often with each kind of abstention.",
        "SELECT question_id, party, count(*) AS turns, sum(status = 'observed') AS observed,\n"
        "  sum(status = 'unknown') AS unknown, sum(status = 'occluded') AS occluded,\n"
        "  sum(status = 'off_screen') AS off_screen, sum(status = 'not_applicable') AS not_applicable\n"
        "FROM turns WHERE put AND stage = 'predicate' GROUP BY question_id, party ORDER BY question_id, party",
    ),
    "outcomes_counted": Query(
        "Outcomes, counted",
        "How the clips ended.",
        "SELECT outcome, incomplete, count(*) AS clips FROM outcomes GROUP BY outcome, incomplete ORDER BY clips DESC",
    ),
    "calls_that_failed": Query(
        "Calls that failed",
        "Every send that came to nothing, and why.",
        "SELECT clip, question_id, party, sample, attempt, reason, message, in_doubt, final, http_status, ended, event\n"
        "FROM calls WHERE state = 'failed' ORDER BY seq",
    ),
}  # fmt: skip

CATALOG_QUERIES: dict[str, Query] = {
    "cost_by_model": Query(
        "Cost by model, all runs",
        "Runs, clips and cost of each model.",
        "SELECT model, count(*) AS runs, sum(clips) AS clips, sum(calls) AS calls, round(sum(cost_usd), 6) AS cost_usd,\n"
        "  sum(cost_unknown) AS cost_unknown FROM runs GROUP BY model ORDER BY cost_usd DESC",
    ),
    "outcomes_by_run": Query(
        "Outcomes by run",
        "How the clips of each run ended.",
        "SELECT run_id, outcome, count(*) AS clips FROM clips GROUP BY run_id, outcome ORDER BY run_id, clips DESC",
    ),
    "what_eliminated_the_gold_chart": Query(
        "What eliminated the gold chart",
        "On each clip of each run, the answer that ruled the labelled chart out. Needs `vlmrec catalog --gold DIR`.",
        "SELECT e.run_id, e.clip, g.leaf AS gold, e.round, e.self_is, e.question_id, e.party, e.value, t.explanation\n"
        "FROM eliminations AS e JOIN gold AS g ON g.clip = e.clip AND g.leaf = e.chart\n"
        "LEFT JOIN turns AS t ON t.run_id = e.run_id AND t.clip = e.clip AND t.question_id = e.question_id AND t.party = e.party\n"
        "ORDER BY e.run_id, e.clip, e.round",
    ),
    "where_runs_differ": Query(
        "Where two runs differ",
        "Turns that two runs answered differently.",
        "SELECT a.clip, a.question_id, a.party, a.status AS status_a, a.value AS value_a, b.status AS status_b, b.value AS value_b,\n"
        "  a.explanation AS explanation_a, b.explanation AS explanation_b\n"
        "FROM turns AS a JOIN turns AS b USING (clip, question_id, party)\n"
        "WHERE a.run_id = :run_a AND b.run_id = :run_b AND (a.status IS NOT b.status OR a.value IS NOT b.value)\n"
        "ORDER BY a.clip, a.question_id",
    ),
    "contradictions": Query(
        "Contradictions, all runs",
        "How often each rule found a contradiction, run by run.",
        "SELECT run_id, rule, count(*) AS found, count(DISTINCT clip) AS clips FROM violations\n"
        "WHERE against_question_id IS NOT NULL GROUP BY run_id, rule ORDER BY found DESC",
    ),
}  # fmt: skip
