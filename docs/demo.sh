#!/usr/bin/env bash
# `make demo`: render clips whose answers are known, record two runs over them, score and show them. Nothing from outside.
set -euo pipefail
vlmrec=$1
demo=$2
export VLMREC_STORE=$demo/store

step() {
    printf '\n\033[1m$ vlmrec %s\033[0m\n' "$*"
    "$vlmrec" "$@"
}

rm -rf "$demo"
mkdir -p "$VLMREC_STORE"
cp store/metadata.yaml store/settings.json "$VLMREC_STORE"
step synth --out "$demo/clips" --count 4 --size 640x360 --seed 7
step extract "$demo/clips" --run-id plain
step extract "$demo/clips" --run-id older --engine 0.1.1
step rescore older --engine 0.1.3
step extract "$demo/clips" --run-id grounded --condition S2,G3,V=frames-4fps
step score grounded --gold "$demo/clips/gold"
step show plain
step verify grounded --replay
step view plain grounded --gold "$demo/clips/gold" --clips-dir "$demo/clips" -o "$demo/view.html"
step report plain grounded --gold "$demo/clips/gold" -o "$demo/report.html"
step catalog --gold "$demo/clips/gold"

cat <<END

Where to look next (with $(dirname "$vlmrec") on the PATH and VLMREC_STORE=$VLMREC_STORE):
  open $demo/view.html, $demo/report.html           the two runs side by side beside the video, and in figures
  vlmrec view plain --clips-dir $demo/clips --serve   the same, live, and to label in
  vlmrec events plain --format cloudevents | head -3  the log itself
  datasette $VLMREC_STORE                            every run as tables and queries
  README.md                                         how to point it at your own model and clips
END
