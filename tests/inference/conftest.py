from evaluation_parts import catalog, few, photographs, root, s3_root

__all__ = ["catalog", "few", "photographs", "root", "s3_root"]
