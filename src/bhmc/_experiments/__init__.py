"""Experiments behind `bhmc reproduce` and `bhmc compare`.

An experiment loads data, runs methods (`methods`) whose results are kept in a folder (`store`), and
writes sheets, figures and one page. Settings are in `settings.toml`.
"""
