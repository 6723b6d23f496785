// Slides: the pictures of an item, fetched and decoded before they are wanted.

const KEPT = 16;

export class Slides {
  #known = new Map();

  // Element of an item's pictures, and a promise that they are decoded; it fails with an error
  // whose `away` says that the server does not answer, so that it is worth another try.
  of(item) {
    let slide = this.#known.get(item.subject);
    if (slide) {
      this.#known.delete(item.subject);
    } else {
      slide = made(item);
      slide.ready.catch(() => this.#known.delete(item.subject));
    }
    this.#known.set(item.subject, slide);
    for (const [subject, old] of this.#known) {
      if (this.#known.size <= KEPT) break;
      if (!old.element.isConnected) this.#known.delete(subject);
    }
    return slide;
  }
}

function made(item) {
  const element = document.createElement("div");
  element.className = "slide";
  const images = item.pictures.map((one) => {
    const image = new Image();
    image.decoding = "sync";
    image.draggable = false;
    image.alt = one.name;
    image.src = one.url;
    const figure = document.createElement("figure");
    const frame = document.createElement("div");
    frame.className = "frame";
    frame.append(image);
    const caption = document.createElement("figcaption");
    caption.textContent = one.name;
    figure.append(frame, caption);
    element.append(figure);
    return image;
  });
  return { element, ready: decoded(images, item) };
}

async function decoded(images, item) {
  const found = await Promise.allSettled(images.map((image) => image.decode()));
  const away = await Promise.all(
    found.map(({ status }, position) =>
      status === "rejected" ? explain(images[position], item.pictures[position].url) : null,
    ),
  );
  if (found.some(({ status }) => status === "rejected")) {
    throw Object.assign(new Error("a picture is missing"), { away: away.includes(true) });
  }
}

// The server's own words in place of a picture that cannot be shown; whether it was silent.
async function explain(image, url) {
  const text = document.createElement("p");
  text.className = "missing";
  image.replaceWith(text);
  try {
    const answer = await fetch(url);
    const why = answer.ok ? "" : (await answer.json()).error;
    text.textContent = `This picture cannot be shown. ${why} Without it a verdict can only be: unsure.`;
    return false;
  } catch {
    text.textContent = "The server does not answer. The picture comes as soon as it does.";
    return true;
  }
}
