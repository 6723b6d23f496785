"""Speed against peers on the same machine: each module prints a table and writes JSON."""
