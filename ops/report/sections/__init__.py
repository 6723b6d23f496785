"""The sections of the report, one file each: from SQL to figures, tables and sentences.

A section without data has no blocks and says what is missing and how to get it.
"""
