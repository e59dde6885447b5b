"""What can be measured: `make bench`, or one part by `python -m bench.NAME`."""
