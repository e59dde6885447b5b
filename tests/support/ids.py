"""Ids for the parameters of tests, which have to be the same in every process of a run."""

UNKNOWN_ID = "01a1fa6b-0000-7000-8000-000000000000"
