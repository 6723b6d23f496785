from evaluation_parts import catalog, root, s3_root

__all__ = ["catalog", "root", "s3_root"]
