"""Experiments behind `bhmc reproduce` and `bhmc compare`.

An experiment loads data, runs methods (`methods`) whose results are kept in a folder (`store`), and
tells what came out in tables, figures and one page. Settings are in `settings.toml`.
"""
