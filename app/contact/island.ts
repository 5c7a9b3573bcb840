/** The element whose content the browser takes over; its data attributes carry the form's settings. */
export const FORM_ROOT_ID = "contact-form";
