"""The commands of every day: what there is, whether it still gives what it promises."""
