"""Names that try to break in: 1,000 of them, each different, from a few shapes."""

# What a script of a name would set, if one ran.
SENTINEL = "__ran"
_RUN = f"window.{SENTINEL}=1"

_SHAPES = (
    lambda n: f"<script>{_RUN}</script>{n}",
    lambda n: f"</script><script>{_RUN}//{n}</script>",
    lambda n: f"</SCRIPT ><img src=x onerror={_RUN}>{n}",
    lambda n: f"<!--<script>{n}",
    lambda n: f"]]>--><svg/onload={_RUN}>{n}",
    lambda n: f"\"'><img src='https://example.invalid/{n}.png'>",
    lambda n: f"' onmouseover='{_RUN}' x='{n}",
    lambda n: f'" autofocus onfocus="{_RUN}" {n}="',
    lambda n: f"`${{{_RUN}}}`{n}",
    lambda n: f"${{alert({n})}} {{{{{n}}}}} <%= {n} %>",
    lambda n: f"javascript:{_RUN}//{n}",
    lambda n: f"\\u003cscript\\u003e{n}\\",
    lambda n: f"&lt;b&gt;{n}&amp;&#x3c;script&#x3e;",
    lambda n: f'=HYPERLINK("https://example.invalid/{n}","x")',
    lambda n: f"+cmd|' /C calc'!A{n}",
    lambda n: f"@SUM({n})\t-{n}",
    lambda n: f"\u202egnp.{n}\u202c \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627 {n}",
    lambda n: f"\u2066{n}\u2069\u200b\ufeff\u2028\u2029",
    lambda n: f"lone \ud800 and \udfff {n}",
    lambda n: "control \x00\x01\x07\x08\x0b\x1b[31m\x7f\x85 " + str(n),
    lambda n: f'line\r\nfeed\n{n},"quoted",,',
    lambda n: f"{'long ' * 2_000}{n}",
    lambda n: f"{'W' * 10_000}{n}",
    lambda n: "Z\u0351\u036b\u0343\u036a\u0302" * 40 + str(n),
    lambda n: f"\U0001f9ec\U0001f468\u200d\U0001f469\u200d\U0001f467 {n}",
    lambda n: "__proto__" if n < 25 else f"constructor{n}",
    lambda n: f'style="x:expression({_RUN})" {n}',
    lambda n: f"</style><style>*{{display:none}}</style>{n}",
    lambda n: f"{' ' * (n + 1)}",
    lambda n: f"{n}\u00ad{n}% \\0 \\x3c %3Cscript%3E",
)


def hostile_names(n: int) -> list[str]:
    """n different names, each shape in turn."""
    return [_SHAPES[i % len(_SHAPES)](i) for i in range(n)]
