"""One root, local or ``s3://``; atomic publish; nothing else in the project opens a path itself."""

from ops.storage.root import Root, full_disk_explained, open_root

__all__ = ["Root", "full_disk_explained", "open_root"]
