-- The SQL views of format 1: typed columns over the events' JSON. vlmrec/log/views.py describes every column.
-- Events of one turn have ids that differ in their type alone, so the views join by id and never by content.

CREATE VIEW turns AS
SELECT
  o.subject AS clip,
  json_extract(o.data, '$.question_id') AS question_id,
  json_extract(o.data, '$.party') AS party,
  json_extract(o.data, '$.stage') AS stage,
  json_extract(o.data, '$.round') AS round,
  json_extract(o.data, '$.put') AS put,
  json_extract(o.data, '$.text') AS text,
  json_extract(o.data, '$.options') AS options,
  json_extract(o.data, '$.window') AS window,
  json_extract(o.data, '$.samples') AS samples,
  json_extract(v.data, '$.usable') AS usable,
  json_extract(v.data, '$.tally') AS tally,
  json_extract(a.data, '$.status') AS status,
  json_extract(a.data, '$.value') AS value,
  json_extract(a.data, '$.explanation') AS explanation,
  json_extract(a.data, '$.evidence_start') AS evidence_start,
  json_extract(a.data, '$.evidence_end') AS evidence_end,
  json_extract(a.data, '$.confidence') AS confidence,
  json_array_length(d.data, '$.violations') AS violations,
  o.time AS opened,
  a.time AS accepted,
  o.seq AS seq,
  o.id AS event
FROM events AS o
LEFT JOIN events AS v ON v.id = 'samples.voted' || substr(o.id, 12)
LEFT JOIN events AS d ON d.id = 'answer.validated' || substr(o.id, 12)
LEFT JOIN events AS a ON a.id = 'answer.accepted' || substr(o.id, 12)
WHERE o.type = 'turn.opened';

CREATE VIEW calls AS
SELECT
  r.subject AS clip,
  json_extract(r.data, '$.stage') AS stage,
  json_extract(r.data, '$.question_id') AS question_id,
  json_extract(r.data, '$.party') AS party,
  json_extract(r.data, '$.sample') AS sample,
  json_extract(r.data, '$.attempt') AS attempt,
  CASE WHEN c.id IS NOT NULL THEN 'completed' WHEN f.id IS NOT NULL THEN 'failed' ELSE 'open' END AS state,
  json_extract(r.data, '$.model') AS model,
  json_extract(c.data, '$.served_model') AS served_model,
  json_extract(r.data, '$.endpoint') AS endpoint,
  json_extract(r.data, '$.fingerprint') AS fingerprint,
  coalesce(json_extract(c.data, '$.status'), json_extract(f.data, '$.status')) AS http_status,
  json_extract(c.data, '$.finish_reasons') AS finish_reasons,
  json_extract(f.data, '$.reason') AS reason,
  json_extract(f.data, '$.message') AS message,
  json_extract(f.data, '$.in_doubt') AS in_doubt,
  json_extract(f.data, '$.final') AS final,
  coalesce(json_extract(c.data, '$.latency_s'), json_extract(f.data, '$.latency_s')) AS latency_s,
  json_extract(c.data, '$.usage.prompt_tokens') AS prompt_tokens,
  json_extract(c.data, '$.usage.completion_tokens') AS completion_tokens,
  json_extract(c.data, '$.usage.cached_tokens') AS cached_tokens,
  json_extract(c.data, '$.usage.media_tokens') AS media_tokens,
  json_extract(c.data, '$.usage.reasoning_tokens') AS reasoning_tokens,
  json_extract(r.data, '$.reserved_cost') AS reserved_cost,
  coalesce(json_extract(c.data, '$.cost'), json_extract(f.data, '$.charged_cost')) AS cost,
  json_extract(c.data, '$.cost_source') AS cost_source,
  json_extract(r.data, '$.request.sha256') AS request,
  coalesce(json_extract(c.data, '$.body.sha256'), json_extract(f.data, '$.body.sha256')) AS reply,
  r.time AS requested,
  coalesce(c.time, f.time) AS ended,
  r.seq AS seq,
  r.id AS event
FROM events AS r
LEFT JOIN events AS f ON f.id = 'call.failed' || substr(r.id, 15)
LEFT JOIN events AS c
  ON c.id = 'call.completed' || substr(r.id, 15, length(r.id) - 15 - length(json_extract(r.data, '$.attempt')))
  AND json_extract(c.data, '$.attempt') = json_extract(r.data, '$.attempt')
WHERE r.type = 'call.requested';

CREATE VIEW submissions AS
SELECT
  subject AS clip,
  json_extract(data, '$.round') AS round,
  json_extract(data, '$.attempt') AS attempt,
  json_extract(data, '$.status') AS status,
  json_extract(data, '$.stop_reason') AS stop_reason,
  json_array_length(data, '$.candidates') AS candidates,
  (SELECT group_concat(chart, ' ') FROM
    (SELECT DISTINCT json_extract(value, '$.chart') AS chart FROM json_each(events.data, '$.candidates'))) AS charts,
  json_array_length(data, '$.eliminated') AS eliminated,
  json_extract(data, '$.next_question.question_id') AS next_question_id,
  json_extract(data, '$.next_question.party') AS next_party,
  json_extract(data, '$.http_status') AS http_status,
  json_extract(data, '$.error') AS error,
  json_extract(data, '$.final') AS final,
  json_extract(data, '$.engine_version') AS engine_version,
  json_extract(data, '$.data_version') AS data_version,
  json_extract(data, '$.request.sha256') AS request,
  json_extract(data, '$.reply.sha256') AS reply,
  time,
  seq,
  id AS event
FROM events
WHERE type = 'engine.submitted';

CREATE VIEW answers AS
SELECT
  a.subject AS clip,
  json_extract(a.data, '$.question_id') AS question_id,
  json_extract(a.data, '$.party') AS party,
  json_extract(a.data, '$.status') AS status,
  json_extract(a.data, '$.value') AS value,
  json_extract(a.data, '$.source') AS source,
  json_extract(a.data, '$.explanation') AS explanation,
  json_extract(a.data, '$.evidence_start') AS evidence_start,
  json_extract(a.data, '$.evidence_end') AS evidence_end,
  json_extract(a.data, '$.confidence') AS confidence,
  json_extract(a.data, '$.demoted_from') AS demoted_from,
  json_extract(a.data, '$.demoted_by') AS demoted_by,
  json_extract(g.data, '$.mapping') AS mapping,
  json_extract(g.data, '$.rule') AS mapping_rule,
  json_extract(g.data, '$.source.kind') AS given_by,
  json_extract(g.data, '$.source.event') AS given_event,
  a.time AS time,
  a.seq AS seq,
  a.id AS event
FROM events AS a
LEFT JOIN events AS g ON g.id = 'answer.given' || substr(a.id, 16)
WHERE a.type = 'answer.accepted';

CREATE VIEW validations AS
SELECT
  e.subject AS clip,
  json_extract(e.data, '$.question_id') AS question_id,
  json_extract(e.data, '$.party') AS party,
  rule.value AS rule,
  v.value IS NULL AS held,
  json_extract(v.value, '$.action') AS action,
  json_extract(v.value, '$.message') AS message,
  json_extract(v.value, '$.against.question_id') AS against_question_id,
  json_extract(v.value, '$.against.party') AS against_party,
  e.time AS time,
  e.seq AS seq,
  e.id AS event
FROM events AS e
JOIN json_each(e.data, '$.checked') AS rule
LEFT JOIN json_each(e.data, '$.violations') AS v ON json_extract(v.value, '$.rule') = rule.value
WHERE e.type IN ('answer.validated', 'table.checked');

CREATE VIEW outcomes AS
SELECT
  e.subject AS clip,
  CASE e.type WHEN 'clip.failed' THEN 'failed' ELSE json_extract(e.data, '$.outcome') END AS outcome,
  json_extract(e.data, '$.incomplete') AS incomplete,
  json_extract(e.data, '$.stop_reason') AS stop_reason,
  json_array_length(e.data, '$.candidates') AS candidates,
  (SELECT group_concat(chart, ' ') FROM
    (SELECT DISTINCT json_extract(value, '$.chart') AS chart FROM json_each(e.data, '$.candidates'))) AS charts,
  json_extract(e.data, '$.candidates[0].fault_self') AS fault_self,
  json_extract(e.data, '$.rounds') AS rounds,
  json_extract(e.data, '$.truncated') AS truncated,
  json_extract(e.data, '$.cause') AS cause,
  json_extract(e.data, '$.reason') AS reason,
  json_extract(e.data, '$.retryable') AS retryable,
  EXISTS (SELECT 1 FROM events AS o WHERE o.subject = e.subject AND o.seq > e.seq AND o.type = 'clip.reopened')
    AS reopened,
  (SELECT json_extract(n.data, '$.text') FROM events AS n
    WHERE n.type = 'note.added' AND json_extract(n.data, '$.exclude') AND json_extract(n.data, '$.question_id') IS NULL
    AND coalesce(json_extract(n.data, '$.clip'), e.subject) = e.subject
    ORDER BY n.seq DESC LIMIT 1) AS excluded,
  e.time AS time,
  e.seq AS seq,
  e.id AS event
FROM events AS e
JOIN (SELECT max(seq) AS seq FROM events WHERE type IN ('clip.finished', 'clip.failed') GROUP BY subject) AS last
  ON e.seq = last.seq;
