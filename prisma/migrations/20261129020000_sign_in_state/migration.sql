-- CreateTable
CREATE TABLE "sign_in_state" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "closed_at" TIMESTAMPTZ(3),
    "opened_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_state_pkey" PRIMARY KEY ("id")
);

-- What schema.prisma cannot say.

ALTER TABLE "sign_in_state" ADD CONSTRAINT "sign_in_state_once" CHECK ("id" = 1);
