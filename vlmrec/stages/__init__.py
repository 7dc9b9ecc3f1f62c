"""How a clip is asked: condition, prompts, the decision core and the orchestrator that drives it."""
