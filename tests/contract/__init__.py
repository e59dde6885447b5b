"""Tests of the contract over real HTTP, and the list of requirements that they prove."""
