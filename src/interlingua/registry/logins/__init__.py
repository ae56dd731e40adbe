"""Logins: credentials that are fetched, renewed and signed with, by the vendors' own libraries."""
