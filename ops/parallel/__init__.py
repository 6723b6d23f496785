"""The one seam between one machine and many: work that fans out over shards goes through here."""

from ops.parallel.local import map_shards, usable_cpus

__all__ = ["map_shards", "usable_cpus"]
