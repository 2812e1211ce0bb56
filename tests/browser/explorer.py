"""A person at a page of the explorer: finds controls by their names, as in `web/README.md`."""

import re

CONTROLS = ("Collapse", "Expand", "Whole tree", "Zoom in", "Zoom out", "Dark colours", "Print")


class Explorer:
    """A page, its controls, and how many actions were taken."""

    def __init__(self, page):
        self.page, self.actions = page, 0

    def control(self, role: str, name: str):
        """The control of this role and exactly this name."""
        return self.page.get_by_role(role, name=name, exact=True)

    def press(self, name: str):
        """Press a button."""
        self.actions += 1
        self.control("button", name).click()

    def key(self, name: str):
        """Press a key, wherever the focus is."""
        self.actions += 1
        self.page.keyboard.press(name)

    def open(self, panel: str):
        """Open a panel, and return it."""
        self.actions += 1
        self.control("tab", panel).click()
        return self.panel()

    def panel(self):
        """The panel that is open."""
        return self.page.locator("[role=tabpanel]:not([hidden])")

    def text(self) -> str:
        """What the open panel says."""
        return self.panel().inner_text()

    def search(self, words: str):
        """Type into the search field, and wait for the results."""
        self.actions += 1
        field, found = self.control("searchbox", "Search"), self.page.locator(".found")
        field.fill("")
        found.wait_for(state="hidden")
        field.fill(words)
        found.wait_for(state="visible")

    def found(self):
        """The buttons of the search's results."""
        return self.control("list", "Search results").get_by_role("button")

    def choose(self, role: str, name: str, value: str):
        """Choose an option of a list."""
        self.actions += 1
        self.control(role, name).select_option(label=value)

    def slide(self, name: str, value: int):
        """Set a slider."""
        self.actions += 1
        self.control("slider", name).fill(str(value))

    def nodes(self):
        """The nodes that are drawn."""
        return self.page.locator("[role=treeitem]")

    def node(self, words: str):
        """The first node whose name begins so."""
        return self.page.get_by_role("treeitem", name=re.compile(f"^{re.escape(words)}")).first

    def at(self, z: int):
        """The node at this place of the page's arrays."""
        return self.page.locator(f"[role=treeitem][data-z='{z}']")

    def place(self, z: int) -> list[float]:
        """x, y, width and height of a node's box."""
        found = self.at(z).evaluate(
            "one => [one.getAttribute('transform').match(/[-\\d.]+/g), "
            "['width', 'height'].map(name => one.querySelector('rect').getAttribute(name))].flat()"
        )
        return [float(one) for one in found]

    def chosen(self):
        """The node that is chosen."""
        return self.page.locator("[role=treeitem][aria-selected=true]")

    def zoomed_to(self) -> str:
        """The last step of the path above the tree."""
        return self.page.locator("nav [aria-current=true]").inner_text()

    def settle(self):
        """Wait until the tree stands still."""
        self.page.wait_for_function(
            """() => new Promise(done => {
                const root = document.querySelector('#bhmc-explorer').shadowRoot;
                const now = () => [...root.querySelectorAll('[role=treeitem]')]
                    .map(one => one.getAttribute('transform') + one.dataset.z).join();
                let before = now(), same = 0;
                const look = () => {
                    const next = now();
                    same = next === before ? same + 1 : 0;
                    before = next;
                    same >= 5 ? done(true) : requestAnimationFrame(look);
                };
                requestAnimationFrame(look);
            })"""
        )
