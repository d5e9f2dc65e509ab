package collective

// Piece is what tests have to exceed.
const Piece = piece

// Copies is a transport that tests change.
type Copies = copyTransport
